package grpo

import (
	"context"
	"errors"
	"fmt"

	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/goroutine"
	"toolgym/tools"
)

// A grader judges completions, one after another, by one rubric. It keeps the
// memory that this takes, and is used by one goroutine.
type grader struct {
	by      *tariff
	turns   []turn // of the completion that is judged
	made    []match.Made
	counted []int // the attempts that those are
	report  match.Report
}

// judge scores one completion of a task into s, whose Criteria are the rubric's
// and blank, and whose Calls may hold room for them. The error is the caller's
// (input that is no completion) or the context's; whatever else fails, a panic
// of the environment or of the grader as well, is the score's Failure.
func (g *grader) judge(ctx context.Context, t *task, c *Completion, s *Score) error {
	err := goroutine.Run(func() error { return g.unguarded(ctx, t, c, s) })
	if p, ok := errors.AsType[*goroutine.PanicError](err); ok {
		*g = grader{by: g.by} // what it keeps may be half written
		s.broken(p)
		s.pay(g.by, nil)
		return nil
	}
	return err
}

// unguarded is judge without its recovery from panics.
func (g *grader) unguarded(ctx context.Context, t *task, c *Completion, s *Score) error {
	s.Failure, s.Tier, s.tokens = c.Failure, parse.Answer, -1
	s.Defects = []parse.Defect{}
	if s.Calls == nil {
		s.Calls = []Call{}
	}
	g.turns = g.turns[:0]
	if c.Text != nil || c.Messages != nil {
		if err := g.grade(ctx, t, c, s); err != nil {
			return err
		}
	}
	s.pay(g.by, g.turns)
	for i := range s.Calls {
		s.Calls[i].Value = nil // the reader fills it again
	}
	return nil
}

// grade reads a completion, and finds out everything about it that needs no
// rubric.
func (g *grader) grade(ctx context.Context, t *task, c *Completion, s *Score) error {
	tokens, err := g.read(ctx, t.reader, c)
	if err != nil {
		return err
	}
	s.turns, s.tokens = len(g.turns), tokensOf(c, tokens)
	s.collect(g.turns)
	for i := range g.turns {
		if failure := g.turns[i].reading.Failure; failure != nil && s.Failure == nil {
			s.Failure = failure
		}
	}
	if s.Failure != nil {
		return nil
	}
	credit, err := g.credit(ctx, t, s, c.Played)
	if ctx.Err() != nil {
		return fmt.Errorf("judging a completion: %w", ctx.Err())
	}
	if err != nil {
		why := reason(err)
		if t.plan == nil {
			why = "the calls cannot be replayed: " + why
		}
		s.Failure = &Failure{Kind: FailureHarness, Reason: why}
		s.Cause = err
		return nil
	}
	s.complete(t, g.turns, credit)
	s.measure(t, g.turns, c)
	return nil
}

// reason is what a client may know of an error: a mistake of the caller in
// full, anything else not at all.
func reason(err error) string {
	if mistake, ok := errors.AsType[*tools.Error](err); ok {
		return mistake.Error()
	}
	if _, ok := errors.AsType[*goroutine.PanicError](err); ok {
		return "internal error"
	}
	return "the environment failed"
}

// tokensOf is the number of the model's own tokens: by the mask, by the number
// of log-probabilities, by the caller's word or by the messages'.
func tokensOf(c *Completion, counted int) int {
	switch {
	case c.Mask != nil:
		n := 0
		for _, m := range c.Mask {
			n += m
		}
		return n
	case c.LogProbs != nil:
		return len(c.LogProbs)
	case c.Tokens != nil:
		return *c.Tokens
	}
	return counted
}

// credit is what the calls and the answer are worth, and fills in what became
// of each call.
func (g *grader) credit(ctx context.Context, t *task, s *Score, played *tools.Trajectory) (float64, error) {
	switch {
	case t.plan != nil:
		return g.compare(ctx, t.plan, s)
	case played != nil:
		return t.follow(s, played), nil
	}
	return t.replay(ctx, s, g.turns)
}

// complete decides about completion. Credit for a task that needs calls needs a
// valid one, an environment's task that needs none gets none for any attempt, and
// no credit is given when the model made a tool's result up.
func (s *Score) complete(t *task, turns []turn, credit float64) {
	valid := false
	for i := range s.Calls {
		valid = valid || s.Calls[i].valid()
	}
	for i := range turns {
		if turns[i].reading.Has(parse.DefectFabricated) {
			credit = 0
		}
	}
	if t.needsCall() && !valid || t.task.NeedsNoCall && len(s.Calls) > 0 {
		credit = 0
	}
	s.Success = credit == 1
	s.Criteria.set(mCompletion, credit)
}
