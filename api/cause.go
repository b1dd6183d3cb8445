package api

import (
	"context"
	"fmt"
	"log/slog"

	"toolgym/grpo"
	"toolgym/internal/goroutine"
)

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
