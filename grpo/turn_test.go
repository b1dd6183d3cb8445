package grpo

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"toolgym/grpo/parse"
)

// leaving is a context that is canceled after its error was asked for some times.
type leaving struct {
	context.Context //nolint:containedctx // it is one
	asked, after    int
}

func (c *leaving) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}

// TestReadingStopsBetweenMessages cancels the context after two of three messages, of which
// each asks twice.
func TestReadingStopsBetweenMessages(t *testing.T) {
	text := json.RawMessage(`{"role":"assistant","content":"Hello."}`)
	completion := Completion{Messages: []json.RawMessage{text, text, text}}
	var g grader
	if _, err := g.read(&leaving{Context: t.Context(), after: 4}, parse.NewReader(nil), &completion); !errors.Is(err, context.Canceled) || len(g.turns) != 2 {
		t.Errorf("%d turns read, %v", len(g.turns), err)
	}
}
