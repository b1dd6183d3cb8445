package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"toolgym/api/assessment"
	"toolgym/api/lab"
	"toolgym/api/training"
	"toolgym/grpo"
	"toolgym/internal/evaluation"
	"toolgym/internal/goroutine"
	"toolgym/internal/intake"
	"toolgym/internal/refusal"
	"toolgym/internal/turns"
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
	ledger   *ledger
	sessions *sessions // of MCP
	metrics  *metrics
	runs     *training.Runs
	evals    *assessment.Desk       // nil without a database
	beside   *evaluation.References // nil without a database
	lab      *lab.Lab               // the pages for people
	stopping chan struct{}          // closed when the server goes, for streams to end
	traces   *sdk.TracerProvider    // nil without
	scorer   *grpo.Scorer
	desk     intake.Desk      // of bodies to be read and scored
	turns    *turns.Queue     // of requests that compute
	problems []problemExample // for the document
	shares   shares
	quotas   *throttle    // by token
	visits   *visits      // browsers that are signed in
	running  atomic.Int64 // requests that are being answered
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
	s.stopping = make(chan struct{})
	s.shares = newShares(s.config)
	s.sessions = &sessions{quota: s.shares.sessions, live: map[*mcp.ServerSession]openSession{}, failed: func(err error) {
		s.config.Logger.LogAttrs(context.Background(), slog.LevelError, "waiting for the end of an MCP session", goroutine.Attr(err))
	}}
	var err error
	if s.problems, err = problemExamples(); err != nil {
		return nil, err
	}
	if s.scorer, err = grpo.NewScorer(s.config.Specs, *s.config.Rubric); err != nil {
		return nil, refusal.Below("Rubric", err)
	}
	s.turns = turns.New(max(1, runtime.GOMAXPROCS(0)/2))
	s.quotas = newThrottle(s.config.TokenRate, int(max(1, s.config.TokenRate)), s.config.Now)
	s.visits = newVisits(s.config.Now)
	if s.metrics, err = newMetrics(s); err != nil {
		return nil, err
	}
	if s.traces, err = newTracing(context.Background(), s.config); err != nil {
		return nil, err
	}
	s.pipeline()
	s.api = humaecho.New(s.echo, humaConfig(s.config.Version))
	s.routes()
	settle(s.api.OpenAPI())
	if err := s.compileBodies(); err != nil {
		return nil, err
	}
	if err := s.pages(); err != nil {
		return nil, err
	}
	if s.http, err = s.newHTTP(); err != nil {
		return nil, err
	}
	return s, s.remember()
}

// pipeline is what every request passes before its handler.
func (s *Server) pipeline() {
	s.echo.HTTPErrorHandler = s.onError
	s.echo.IPExtractor = echo.ExtractIPDirect() // X-Forwarded-For is whatever a client says
	s.echo.Use(s.identify)
	if s.traces != nil {
		s.echo.Use(traced(s.traces))
	}
	addresses := newThrottle(s.config.Rate, s.config.Burst, s.config.Now)
	s.echo.Use(s.metrics.requests, s.logged(), recovered, s.crowded, s.guarded(), addresses.limited, s.authenticated, s.shared, unescaped)
}

// remember opens the ledger and brings back what it has.
func (s *Server) remember() (err error) {
	ctx := context.Background() // a server that was asked for is made
	if s.ledger, err = openLedger(ctx, s.config); err != nil {
		return err
	}
	err = s.restore(ctx)
	if err == nil {
		err = s.openRuns()
	}
	if err == nil {
		s.openEvals()
		err = s.labRoutes()
	}
	if err != nil {
		return errors.Join(err, s.ledger.close())
	}
	return nil
}

// routes adds every resource. A new one is a file with its types and a method
// like those here, and a line in this list.
func (s *Server) routes() {
	s.healthRoutes()
	s.envRoutes()
	s.toolRoutes()
	s.episodeRoutes()
	s.parseRoutes()
	s.scoreRoutes()
	s.auditRoutes()
	s.trainerRoutes()
	s.skillRoutes()
	s.mcpRoutes()
	s.metricRoutes()
	s.exportRoutes()
	s.policyRoutes()
	s.evalRoutes()
	s.modelRoutes()
	s.actRoutes()
}

// newHTTP sets a time limit to every phase of a request. Streams lift those of
// writing and reading while they run.
func (s *Server) newHTTP() (*http.Server, error) {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		ReadTimeout:       s.config.HeaderTimeout + s.config.BodyTimeout,
		WriteTimeout:      s.config.CallTimeout + s.config.BodyTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
			WriteByteTimeout: s.config.BodyTimeout},
		ErrorLog: slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
	pairs, err := s.config.certificates()
	if err == nil && pairs != nil {
		server.TLSConfig = &tls.Config{Certificates: pairs, MinVersion: tls.VersionTLS12}
	}
	return server, err
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
// other machines can reach is refused unless there are tokens: a client that connects
// to a server without may do everything.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.config.MayServe(listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	serve := s.http.Serve
	if s.http.TLSConfig != nil {
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
	}
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", listener.Addr(), err)
	}
	return nil
}

// Shutdown takes no further connections, lets the running calls finish and
// returns when they have, or with the context's error when it ends first. Then
// the database is closed; a server with Config.Data must be shut down even when
// it never served.
// /readyz says from the beginning that the server is going.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.draining.Swap(true) {
		close(s.stopping)
	}
	s.sessions.close()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("finishing the running calls: %w", err), s.http.Close(), s.end(ctx))
	}
	return s.end(ctx)
}

// end stops what runs besides requests, and closes the database.
func (s *Server) end(ctx context.Context) error {
	if s.evals != nil {
		s.evals.Close()
		s.beside.Close()
	}
	s.lab.Close()
	err := s.runs.Close()
	s.flush(ctx)
	return errors.Join(err, s.ledger.close())
}

// flush sends the spans that wait. A collector that does not answer is no
// reason to say that the shutdown failed.
func (s *Server) flush(ctx context.Context) {
	if s.traces == nil {
		return
	}
	if err := s.traces.Shutdown(ctx); err != nil {
		s.config.Logger.Warn("the last traces were not sent", "error", err)
	}
}

// health is the answer of /healthz and /readyz.
type health struct {
	Status string `json:"status" example:"ok"`
}

func (s *Server) healthRoutes() {
	handle(s, route{id: "health", method: http.MethodGet, path: "/healthz", tag: "operation", role: public,
		summary: "Whether the process lives", answer: health{Status: "ok"}}, s.healthy)
	handle(s, route{id: "readiness", method: http.MethodGet, path: "/readyz", tag: "operation", role: public,
		summary: "Whether the server takes work", answer: health{Status: "ready"}}, s.ready)
}

func (s *Server) healthy(context.Context, *struct{}) (*reply[health], error) {
	return answered(health{Status: "ok"}), nil
}

func (s *Server) ready(ctx context.Context, _ *struct{}) (*reply[health], error) {
	if s.draining.Load() {
		return nil, &tools.Error{Code: tools.Unavailable, Message: "the server is shutting down"}
	}
	if err := s.ledger.ready(ctx); err != nil {
		return nil, err
	}
	return answered(health{Status: "ready"}), nil
}

// A content is one media type of an answer that huma does not write, as the
// document describes it.
type content struct {
	kind    string
	schema  *huma.Schema // of the whole or, of JSON lines, of a line; nil for text
	item    *huma.Schema // of an event, see eventSchema
	example any
}

// raw serves a GET route whose answer is not a JSON document of huma's, and puts
// it into the document.
func (s *Server) raw(r route, contents []content, handler echo.HandlerFunc) {
	op := &huma.Operation{OperationID: r.id, Method: http.MethodGet, Path: r.path, Tags: []string{r.tag}, Summary: r.summary, Description: r.text,
		DefaultStatus: http.StatusOK, Parameters: r.parameters}
	op.Responses = map[string]*huma.Response{"200": {Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{}}}
	for _, c := range contents {
		media := &huma.MediaType{Schema: c.schema, Example: c.example}
		if c.schema == nil {
			media.Schema = &huma.Schema{Type: huma.TypeString}
		}
		if c.item != nil {
			media.Extensions = map[string]any{"x-item-schema": c.item}
		}
		op.Responses["200"].Content[c.kind] = media
	}
	for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	s.api.OpenAPI().AddOperation(op)
	s.describe(op, r, nil)
	s.echo.GET(regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(r.path, ":$1"), requires(r.role, asked(op, handler)))
}

// asked refuses a query that is not the operation's, as wellAsked does for the
// routes of huma.
func asked(op *huma.Operation, handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if model := queryFlaws(op, c.Request().URL.RawQuery); model != nil {
			return restated(op, model)
		}
		return handle(c)
	}
}

// eventSchema describes a Server-Sent Event whose data is JSON of one of the
// types. OpenAPI 3.1 has no word for it; 3.2 calls it itemSchema.
func eventSchema(registry huma.Registry, data ...reflect.Type) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"data"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"id": text, "event": text, "data": oneOf(registry, data...)}}
}

// oneOf is the schema of a value of any of the types.
func oneOf(registry huma.Registry, types ...reflect.Type) *huma.Schema {
	schema := &huma.Schema{}
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, registry.Schema(t, true, ""))
	}
	return schema
}
