package api

import (
	"context"
	"net/http"

	"toolgym/api/client"
	"toolgym/tools"
)

func (s *Server) healthRoutes() {
	handle(s, route{id: "health", method: http.MethodGet, path: "/healthz", tag: "operation", role: public,
		summary: "Whether the process lives", answer: client.Status{Status: "ok"}}, s.healthy)
	handle(s, route{id: "readiness", method: http.MethodGet, path: "/readyz", tag: "operation", role: public,
		summary: "Whether the server takes work", answer: client.Status{Status: "ready"}}, s.ready)
}

func (s *Server) healthy(context.Context, *struct{}) (*reply[client.Status], error) {
	return answered(client.Status{Status: "ok"}), nil
}

func (s *Server) ready(ctx context.Context, _ *struct{}) (*reply[client.Status], error) {
	if s.draining.Load() {
		return nil, &tools.Error{Code: tools.Unavailable, Message: "the server is shutting down"}
	}
	if err := s.ledger.ready(ctx); err != nil {
		return nil, err
	}
	return answered(client.Status{Status: "ready"}), nil
}
