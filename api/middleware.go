package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"toolgym/grpo"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/internal/turns"
)

// An exchange is one request and its answer, as far as the log is concerned.
type exchange struct {
	id     string
	caller caller
	fault  error // ours or the outside's; the client sees only the id
	failed bool  // onError has dealt with its error

	charging sync.Mutex  // guards charged
	weight   int64       // bytes of its body
	charged  int64       // bytes that its scores take, beyond those of its body
	turn     *turns.Turn // nil where nothing is computed for long
}

type exchangeKey struct{}

// exchangeOf finds the exchange that a handler's context belongs to.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// identify gives every request an id: the caller's own, where it is fit for a
// log line and a header, or a new one.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		x := &exchange{id: r.Header.Get(echo.HeaderXRequestID)}
		if !fit(x.id) {
			x.id = s.config.NewID()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, x.id)
		c.Response().Header().Set(echo.HeaderXContentTypeOptions, "nosniff")
		c.Response().Before(func() { allowHead(c.Response().Header()) }) // of OPTIONS, which Echo answers
		c.SetRequest(r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
		return next(c)
	}
}

// fit reports whether an id that came with a request may stand in headers and
// in the log.
func fit(id string) bool {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._:-", c)
	}
	return id != "" && len(id) <= 128 && strings.IndexFunc(id, func(c rune) bool { return !plain(c) }) < 0
}

// logged writes one record a request, when it has been answered.
func (s *Server) logged() echo.MiddlewareFunc {
	return middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
		HandleError: true, LogMethod: true, LogRoutePath: true, LogURIPath: true, LogStatus: true, LogLatency: true, LogRemoteIP: true, LogResponseSize: true,
		LogValuesFunc: func(c echo.Context, v middleware.RequestLoggerValues) error {
			x := exchangeOf(c.Request().Context())
			attrs := []slog.Attr{
				slog.String("method", v.Method), slog.String("path", fmt.Sprintf("%.200s", v.URIPath)), slog.String("route", v.RoutePath), slog.Int("status", v.Status),
				slog.Duration("latency", v.Latency), slog.Int64("bytes", v.ResponseSize),
				slog.String("remote", v.RemoteIP), slog.String("request_id", x.id),
			}
			if x.caller.name != "" {
				attrs = append(attrs, slog.String("token", x.caller.name))
			}
			level := slog.LevelInfo
			if x.fault != nil {
				level, attrs = slog.LevelError, append(attrs, goroutine.Attr(x.fault))
			}
			s.config.Logger.LogAttrs(c.Request().Context(), level, "request", attrs...)
			return nil
		},
	})
}

// recovered turns a panic into a fault of ours. The stack goes to the log.
func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := goroutine.Run(func() error { return next(c) })
		if errors.Is(err, http.ErrAbortHandler) { // net/http's own, which ends the connection
			panic(http.ErrAbortHandler)
		}
		return err
	}
}

// unescaped makes the parameters of a path what they were before the client
// escaped them. Echo does not where one of them holds a slash: it then routes by
// the path as it was sent.
func unescaped(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().URL.RawPath == "" {
			return next(c)
		}
		values := slices.Clone(c.ParamValues())
		for i, value := range values {
			if plain, err := url.PathUnescape(value); err == nil { // net/http refuses what is not escaped
				values[i] = plain
			}
		}
		c.SetParamValues(values...)
		return next(c)
	}
}

// onError answers for everything that does not come out of a route: an unknown
// path, a wrong method, a refusal of the guards, a panic.
func (s *Server) onError(err error, c echo.Context) {
	ctx := c.Request().Context()
	x := exchangeOf(ctx)
	if x.failed { // Echo comes here again with the error that the logger has come with
		return
	}
	x.failed = true
	f := httpFailure(err, c.Response().Header())
	if f == nil && hungUp(ctx) {
		return
	}
	if f == nil {
		f = asFault(ctx, err)
	}
	if f.fault != nil {
		exchangeOf(ctx).fault = f.fault
	}
	switch {
	case c.Response().Committed: // it must not look whole: its end cannot be sent any more
		_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Unix(1, 0))
	case s.lab != nil && readsPages(c.Request()) && !strings.HasPrefix(c.Request().URL.Path, "/v1/"):
		if f.Status == http.StatusInternalServerError {
			f.Detail += " " + exchangeOf(ctx).id
		}
		if s.showFailure(c, f) == nil {
			return
		}
		fallthrough // the page itself is what fails
	default:
		write(c, f)
	}
}

// httpFailure is the document of an error that HTTP knows, or nil.
func httpFailure(err error, header http.Header) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	e, ok := errors.AsType[*echo.HTTPError](err)
	if !ok || e.Code >= 500 {
		return nil
	}
	switch e.Code {
	case http.StatusNotFound:
		return fail(e.Code, "there is nothing at this path; /docs lists what there is")
	case http.StatusMethodNotAllowed:
		allowHead(header)
		return fail(e.Code, "this path does not take the method; expected one of "+header.Get(echo.HeaderAllow))
	}
	return fail(e.Code, http.StatusText(e.Code))
}

// allowHead adds HEAD to the methods of a path that Echo lists: GET routes answer it.
func allowHead(header http.Header) {
	allow := header.Get(echo.HeaderAllow)
	if strings.Contains(allow, http.MethodGet) && !strings.Contains(allow, http.MethodHead) {
		header.Set(echo.HeaderAllow, allow+", "+http.MethodHead)
	}
}

// edgeFailure is failureOf for the handlers that are Echo's own.
func edgeFailure(err error) error {
	if f := failureOf(nil, err); f != nil {
		return f
	}
	return err
}

// asFault keeps an error of ours or of the outside's for the log and makes the
// document that the client sees in its place.
func asFault(ctx context.Context, err error) *failure {
	exchangeOf(ctx).fault = err
	return fail(http.StatusInternalServerError, seeLog)
}

// seeLog is all that a client hears of a fault of ours.
const seeLog = "the server could not do this; its log says why, under the request id"

// hungUp reports whether the client has gone, so that nothing that fails while
// answering it is worth an alarm.
func hungUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// write sends a problem document. That the client may be gone by now is
// not an error.
func write(c echo.Context, f *failure) {
	header := c.Response().Header()
	maps.Copy(header, f.header)
	header.Set(echo.HeaderContentType, problemType)
	f.RequestID = exchangeOf(c.Request().Context()).id
	c.Response().WriteHeader(f.Status)
	encoder := json.NewEncoder(c.Response())
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(f.Problem)
}

// guarded refuses what a web page elsewhere could make a browser send here.
//
// The Host must be a name of the loopback or one of Config.AllowHosts: a page
// whose own name has been pointed at this machine (DNS rebinding) still sends
// that name. A request that changes something must not come from another
// origin, as Sec-Fetch-Site or Origin tell; programs send neither.
func (s *Server) guarded() echo.MiddlewareFunc {
	origins := http.NewCrossOriginProtection()
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if !s.answersTo(r.Host) {
				return fail(http.StatusMisdirectedRequest, "this server does not go by that Host name; it is given further ones with --allow-host or Config.AllowHosts")
			}
			if err := origins.Check(r); err != nil {
				return fail(http.StatusForbidden, "a page of another origin may not do this")
			}
			return next(c)
		}
	}
}

// answersTo reports whether a Host header names this server.
func (s *Server) answersTo(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(s.config.AllowHosts, func(allowed string) bool { return name != "" && strings.EqualFold(name, allowed) })
}

// reachable reports whether other machines can connect to a listener.
func reachable(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}

// crowded refuses requests beyond the number that may be answered at the same
// time.
func (s *Server) crowded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if probes(c) {
			return next(c)
		}
		defer s.running.Add(-1)
		if s.running.Add(1) > int64(s.config.MaxConcurrent) {
			unread(c.Response().Writer)
			return fail(http.StatusServiceUnavailable, "too many requests are being answered").after(time.Second)
		}
		return next(c)
	}
}

// shared refuses requests beyond a token's share of those that may be answered
// at the same time. Requests without a token have a share together, where
// tokens are asked for.
func (s *Server) shared(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := exchangeOf(c.Request().Context()).caller
		requests := s.shares.requests
		if !who.known() {
			requests = s.shares.strangers
		}
		if probes(c) {
			return next(c)
		}
		release, err := requests.Take(who.name, 1)
		if err != nil {
			unread(c.Response().Writer)
			return edgeFailure(err)
		}
		defer release()
		return next(c)
	}
}

// probes reports whether a request asks how the server is: it is answered also
// when the server has too much to do.
func probes(c echo.Context) bool {
	switch c.Request().URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return true
	}
	return false
}

// unhurried lifts the limits of time where a GET opens a stream or an export,
// which may take as long as it needs. A client that does not read for
// Config.BodyTimeout loses the connection, and what the request holds is freed.
func (s *Server) unhurried(c echo.Context) {
	if c.Request().Method != http.MethodGet {
		return
	}
	control := http.NewResponseController(c.Response().Writer)
	_ = control.SetReadDeadline(time.Time{}) // a ResponseWriter without deadlines has none to lift
	c.Response().Writer = &pacedWriter{ResponseWriter: c.Response().Writer, control: control, most: s.config.BodyTimeout}
}

// A pacedWriter gives each write a time limit of its own.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	most    time.Duration
}

// Write writes within the time limit.
func (w *pacedWriter) Write(text []byte) (int, error) {
	w.pace()
	return w.ResponseWriter.Write(text)
}

// FlushError flushes within the time limit.
func (w *pacedWriter) FlushError() error {
	w.pace()
	return w.control.Flush()
}

// pace sets the limit of the next write. The limits are the connection's, and go
// by the clock of the machine.
func (w *pacedWriter) pace() { _ = w.control.SetWriteDeadline(time.Now().Add(w.most)) }

// Unwrap returns the writer inside, for [http.ResponseController].
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// causes are why completions of one request have no reward, where the reason is
// on our side. The log gets the first and their number, so that one request
// cannot fill it.
type causes struct {
	where  string // the first completion
	first  error
	number int
}

func (c *causes) add(where string, cause error) {
	if c.number++; c.first == nil {
		c.where, c.first = where, cause
	}
}

// line is the Failed of [grpo.StreamOptions].
func (c *causes) line(number int, cause error) { c.add(fmt.Sprintf("line %d", number), cause) }

// logCauses logs what there is under the request's id.
func (s *Server) logCauses(ctx context.Context, c *causes) {
	if c.first == nil {
		return
	}
	s.config.Logger.LogAttrs(ctx, slog.LevelError, "completions not judged", slog.Int("number", c.number), slog.String("first", c.where),
		slog.String("request_id", exchangeOf(ctx).id), goroutine.Attr(c.first))
}

// logScores is logCauses for a response.
func (s *Server) logScores(ctx context.Context, response grpo.Response) {
	var c causes
	for i := range response.Groups {
		for j := range response.Groups[i].Completions {
			if cause := response.Groups[i].Completions[j].Cause; cause != nil {
				c.add(fmt.Sprintf("/groups/%d/completions/%d", i, j), cause)
			}
		}
	}
	s.logCauses(ctx, &c)
}

// TracesWanted reports whether the environment names a collector of traces, by
// OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, and does
// not switch them off by OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none.
func TracesWanted() bool {
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	return named != "" && os.Getenv("OTEL_SDK_DISABLED") != "true" && os.Getenv("OTEL_TRACES_EXPORTER") != "none"
}

// newTracing makes what sends spans, over HTTP, to where the OTEL_* variables
// say; its batches are sent in the background and bounded. Nil means that no
// traces are wanted.
func newTracing(ctx context.Context, c Config) (*sdk.TracerProvider, error) {
	if !c.Traces {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the OTEL_EXPORTER_OTLP variables: %w", err)
	}
	about, err := c.traced(ctx)
	if err != nil {
		return nil, err
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about)), nil
}

// traced describes this program to the collector of traces.
func (c Config) traced(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "toolgym"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, refusal.New("OTEL_RESOURCE_ATTRIBUTES", "key=value,...", "%v", err)
	}
	return about, nil
}

func (c Config) validateTraces() error {
	if !c.Traces {
		return nil
	}
	_, err := c.traced(context.Background())
	return err
}

// traced makes a span of a request, a child of the client's where it says so.
func traced(provider trace.TracerProvider) echo.MiddlewareFunc {
	wrap := echo.WrapMiddleware(otelhttp.NewMiddleware("request", otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagation.TraceContext{})))
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return wrap(func(c echo.Context) error {
			err := next(c)
			span := trace.SpanFromContext(c.Request().Context())
			span.SetName(knownMethod(c.Request().Method) + " " + c.Path())
			span.SetAttributes(attribute.String("http.route", c.Path()), attribute.String("request_id", exchangeOf(c.Request().Context()).id))
			return err
		})
	}
}
