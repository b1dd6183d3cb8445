package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

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
