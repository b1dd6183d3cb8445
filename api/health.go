package api

import (
	"context"
	"net/http"

	"toolgym/tools"
)

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
