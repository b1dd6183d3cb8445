package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"toolgym/tools"
)

// A Server answers the REST API. It is an http.Handler, so that it can be
// mounted anywhere, and it serves by itself with [Server.Serve]. It starts no
// goroutine of its own.
type Server struct {
	config   Config
	echo     *echo.Echo
	api      huma.API
	bodies   []pendingBody
	offers   map[string][]offer
	episodes *table
	http     *http.Server
	draining atomic.Bool
}

var _ http.Handler = (*Server)(nil)

// New makes a server of a configuration. A configuration that is not valid is
// an [*tools.Error] with code invalid.
func New(config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config.withDefaults(), echo: echo.New()}
	s.offers, s.episodes = offers(s.config.Specs), newTable(s.config)
	s.echo.HTTPErrorHandler = s.onError
	s.echo.IPExtractor = echo.ExtractIPDirect() // X-Forwarded-For is whatever a client says
	s.echo.Use(s.identify, s.logged(), recovered(), s.guarded(), newThrottle(s.config).limited)
	s.api = humaecho.New(s.echo, humaConfig(s.config.Version))
	s.routes()
	settle(s.api.OpenAPI())
	if err := s.compileBodies(); err != nil {
		return nil, err
	}
	if err := s.pages(); err != nil {
		return nil, err
	}
	s.http = s.newHTTP()
	return s, nil
}

// routes adds every resource. A new one is a file with its types and a method
// like those here, and a line in this list.
func (s *Server) routes() {
	s.healthRoutes()
	s.envRoutes()
	s.toolRoutes()
	s.episodeRoutes()
	s.auditRoutes()
}

func (s *Server) newHTTP() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      s.config.CallTimeout + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
}

// ServeHTTP answers one request. HEAD is GET without the body, which net/http
// leaves out by itself.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		get := *r
		get.Method = http.MethodGet
		r = &get
	}
	s.echo.ServeHTTP(w, r)
}

// ListenAndServe listens on a TCP address and serves on it, as Serve does.
func (s *Server) ListenAndServe(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	return s.Serve(listener)
}

// Serve answers on the listener, and closes it, until Shutdown. A listener that
// other machines can reach is refused unless the configuration allows it: there
// are no tokens yet, and whoever connects may play.
func (s *Server) Serve(listener net.Listener) error {
	if reachable(listener.Addr()) && !s.config.AllowRemote {
		return errors.Join(&tools.Error{Code: tools.Forbidden, Where: "address",
			Message: fmt.Sprintf("%s can be reached from other machines", listener.Addr()), Want: "an address of the loopback, or Config.AllowRemote"}, listener.Close())
	}
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

// Shutdown takes no further connections, lets the running calls finish and
// returns when they have, or with the context's error when it ends first.
// /readyz says from the beginning that the server is going.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("finishing the running calls: %w", err), s.http.Close())
	}
	return nil
}
