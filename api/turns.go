package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/internal/turns"
)

// The kinds of work that a route does.
const (
	light    = iota // it answers at once
	heavy           // it computes, as long as the request asks for
	streamed        // it takes turns by itself, or mostly waits
)

// newTurn is a turn of the caller's that has not begun.
func (s *Server) newTurn(ctx context.Context, most time.Duration) *turns.Turn {
	return s.turns.Turn(exchangeOf(ctx).caller.name, most)
}

// computes gives a request of a heavy route its turn, which begins when the body
// has been read and ends before the answer is written: a client that sends or
// reads slowly has none meanwhile. Other requests are counted.
func (s *Server) computes(kind int) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		x := exchangeOf(ctx.Context())
		switch kind {
		case light:
			defer s.turns.Light()()
		case heavy:
			x.turn = s.newTurn(ctx.Context(), s.config.CallTimeout)
			defer x.turn.End()
		}
		next(ctx)
	}
}
