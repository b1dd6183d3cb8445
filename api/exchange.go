package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"toolgym/internal/goroutine"
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
