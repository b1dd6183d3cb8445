package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// crowded refuses requests beyond the number that may be answered at the same
// time. Those by which one finds out how the server is are let through.
func (s *Server) crowded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		switch c.Request().URL.Path {
		case "/healthz", "/readyz", "/metrics":
			return next(c)
		}
		defer s.running.Add(-1)
		if s.running.Add(1) > int64(s.config.MaxConcurrent) {
			return fail(http.StatusServiceUnavailable, "too many requests are being answered").after(time.Second)
		}
		return next(c)
	}
}
