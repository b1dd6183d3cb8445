package arithmetic

import (
	"context"
	"math/big"
	"unicode"

	"toolgym/tools"
)

// silence is an episode at level restraint: a message without calls completes
// it, and a call fails it.
type silence struct{ spoken bool }

func (s *silence) observe() any { return struct{}{} }

// call ends the episode. The call is carried out all the same, on a workbench
// without a task, so that the agent sees an honest result.
func (s *silence) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	bench := &workbench{target: new(big.Rat)}
	result, _, _, err := bench.call(ctx, call)
	return result, 0, true, err
}

// say ends the episode. A message in which nothing can be read fails it.
func (s *silence) say(text string) (float64, bool) {
	s.spoken = legible(text)
	return float64(bit(s.spoken)), true
}

func (s *silence) success() bool { return s.spoken }

// legible tells whether a text has anything to read: blanks, control and
// zero-width characters alone are an empty message.
func legible(text string) bool {
	for _, letter := range text {
		if unicode.IsGraphic(letter) && !unicode.IsSpace(letter) && letter != unicode.ReplacementChar {
			return true
		}
	}
	return false
}
