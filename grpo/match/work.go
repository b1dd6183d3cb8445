package match

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/tools"
)

// MaxSteps is how many steps comparing the calls of one completion with those
// expected may take. A step is about what comparing two short values takes, 50 ns.
const MaxSteps = 20_000_000

// What comparing two numbers takes beyond their digits, and beyond that where one
// of them has an exponent.
const (
	tolerantSteps = 32
	exponentSteps = 100
)

// A work counts the steps of comparing calls before they are taken, and ends with
// the context. The same plan and calls take the same number. A nil work is not
// bounded.
type work struct {
	left  int
	ended <-chan struct{}
	over  bool // everything differs from here on
}

// take takes steps, and reports whether there were enough.
func (w *work) take(steps int) bool {
	if w == nil {
		return true
	}
	select {
	case <-w.ended:
		w.over = true
	default:
	}
	if w.left -= steps; w.left < 0 {
		w.over = true
	}
	return !w.over
}

// err says why the work is over, nil where it is not.
func (w *work) err(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("comparing calls: %w", ctx.Err())
	case w.over:
		return &tools.Error{Code: tools.TooLarge, Message: fmt.Sprintf("comparing the calls with those expected takes more than %d steps", MaxSteps),
			Want: "fewer calls, or fewer and smaller alternatives and sets"}
	}
	return nil
}

// sizeOf is the number of steps of comparing a value exactly with another.
func sizeOf(value any) int {
	switch v := value.(type) {
	case string:
		return 1 + len(v)/64
	case json.Number:
		return 2 + len(v)/16
	case []any:
		size := 1
		for _, item := range v {
			size += sizeOf(item)
		}
		return size
	case map[string]any:
		size := 1
		for name, item := range v {
			size += 1 + len(name)/64 + sizeOf(item)
		}
		return size
	}
	return 1
}

// tolerant is the number of steps of comparing numbers by a tolerance.
func tolerant(numbers ...json.Number) int {
	steps := tolerantSteps
	for _, n := range numbers {
		steps += len(n) / 4
		if strings.ContainsAny(string(n), "eE") {
			steps += exponentSteps
		}
	}
	return steps
}
