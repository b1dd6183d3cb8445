package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/labstack/echo/v4"

	"toolgym/internal/store"
	"toolgym/tools"
)

// An exported is a line of GET /v1/episodes/export.ndjson.
type exported struct {
	ID         string           `json:"id"`
	Owner      string           `json:"owner,omitempty"`
	Live       bool             `json:"live"`
	Trajectory tools.Trajectory `json:"trajectory"`
}

func (s *Server) exportRoutes() {
	registry := s.api.OpenAPI().Components.Schemas
	s.raw(route{id: "export-episodes", path: "/v1/episodes/export.ndjson", tag: "episodes", role: Play,
		summary: "The trajectories of all episodes that are kept", text: "A line an episode, in the order of creation: the live ones, and those that are over while the database keeps them."},
		[]content{{kind: linesType, schema: registry.Schema(reflect.TypeFor[exported](), true, ""), example: exported{ID: exampleState().ID, Trajectory: *examplePlayed().Trajectory}}}, s.exportEpisodes)
}

// exportEpisodes sends the caller's episodes, a page of them in memory at a time.
func (s *Server) exportEpisodes(c echo.Context) error {
	s.unhurried(c)
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	ctx := c.Request().Context()
	c.Response().WriteHeader(http.StatusOK)
	lines := json.NewEncoder(c.Response())
	lines.SetEscapeHTML(false)
	if err := s.exportOver(ctx, lines); err != nil {
		return sending(ctx, err)
	}
	for _, seat := range s.episodes.page(exchangeOf(ctx).caller, 0, s.config.MaxEpisodes) {
		if err := lines.Encode(exported{seat.id, seat.owner, true, seat.trajectory()}); err != nil {
			return sending(ctx, err)
		}
	}
	return nil
}

// sending is the error of an answer that has begun: it breaks off, and the log
// says why, unless the client has gone.
func sending(ctx context.Context, err error) error {
	if err == nil || hungUp(ctx) {
		return nil
	}
	return fmt.Errorf("sending an export: %w", err)
}

// exportOver writes the episodes that are over, and in the database alone.
func (s *Server) exportOver(ctx context.Context, lines *json.Encoder) error {
	if s.ledger.store == nil {
		return nil
	}
	owner := exchangeOf(ctx).caller.name
	if exchangeOf(ctx).caller.may(Admin) {
		owner = "*"
	}
	const page = 64
	for after := uint64(0); ; {
		kept, err := s.ledger.store.EndedEpisodes(ctx, owner, after, page)
		if err != nil {
			return fmt.Errorf("exporting episodes: %w", err)
		}
		for _, k := range kept {
			after = k.Number
			if err := s.exportKept(ctx, lines, k); err != nil {
				return err
			}
		}
		if len(kept) < page {
			return nil
		}
	}
}

// exportKept writes one; it is replayed for what was observed first. Where the
// environment has changed since, its own part is left out.
func (s *Server) exportKept(ctx context.Context, lines *json.Encoder, k store.Episode) error {
	line := exported{ID: k.ID, Owner: k.Owner, Trajectory: tools.Trajectory{Task: tools.Task{ID: k.Task}, Steps: stepsOf(k.Moves)}}
	if e, err := s.revive(ctx, k); err == nil {
		line.Trajectory = e.trajectory()
	}
	if err := lines.Encode(line); err != nil {
		return fmt.Errorf("sending episodes: %w", err)
	}
	return nil
}
