package grpo

import (
	"context"
	"errors"
	"fmt"

	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A task is what completions are graded against, made ready. It is safe for
// concurrent use.
type task struct {
	*toolset

	plan *match.Plan // nil where an environment judges
	spec tools.Spec
	task tools.Task
}

// expectedTask is a task by expected calls or answer.
func expectedTask(set *toolset, expected match.Expected) (*task, error) {
	plan, err := expected.CompileFor(set.offered)
	if err != nil {
		return nil, at("/expected", err)
	}
	return &task{toolset: set, plan: plan}, nil
}

// playedTask is a task of an environment.
func (s *Scorer) playedTask(id string) (*task, error) {
	spec, t, err := s.envs.Task(id)
	if err != nil {
		return nil, within("/task_id", err)
	}
	return &task{toolset: s.toolsets.of(spec.Tools(t.Rules, t.Level)), spec: spec, task: t}, nil
}

// needsCall reports whether the task can not be solved without a call.
func (t *task) needsCall() bool {
	if t.plan != nil {
		return t.plan.NeedsCall()
	}
	return !t.task.NeedsNoCall
}

// needed is the number of calls of a shortest known solution, and at least 1
// where one is needed.
func (t *task) needed() int {
	switch {
	case t.plan != nil:
		return t.plan.Needed()
	case t.task.NeedsNoCall:
		return 0
	}
	return max(1, t.task.Optimal)
}

// judge scores one completion by a rubric into s, whose Criteria are the
// rubric's and blank, and whose Calls may hold room for them. The error is the caller's (input that is no completion) or the
// context's; whatever else fails is the score's Failure.
func (t *task) judge(ctx context.Context, c *Completion, by *tariff, s *Score) error {
	s.Failure, s.Tier, s.tokens = c.Failure, parse.Answer, -1
	s.Defects = []parse.Defect{}
	if s.Calls == nil {
		s.Calls = []Call{}
	}
	var one [1]turn // most completions are one text
	turns := one[:0]
	if c.Text != nil || c.Messages != nil {
		var err error
		if turns, err = t.grade(ctx, s, c, turns); err != nil {
			return err
		}
	}
	s.pay(by, turns)
	return nil
}

// grade reads a completion, and finds out everything about it that needs no
// rubric.
func (t *task) grade(ctx context.Context, s *Score, c *Completion, turns []turn) ([]turn, error) {
	turns, tokens, err := t.turns(c, turns)
	if err != nil {
		return nil, err
	}
	s.turns, s.tokens = len(turns), tokensOf(c, tokens)
	s.collect(turns)
	for _, turn := range turns {
		if turn.reading.Failure != nil && s.Failure == nil {
			s.Failure = turn.reading.Failure
		}
	}
	if s.Failure != nil {
		return turns, nil
	}
	credit, err := t.credit(ctx, s, turns, c.Played)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("judging a completion: %w", ctx.Err())
	}
	if err != nil {
		s.Failure = &Failure{Kind: FailureHarness, Reason: "the calls can not be replayed: " + reason(err)}
		s.Cause = err
		return turns, nil
	}
	s.complete(t, turns, credit)
	s.measure(t, turns, c)
	return turns, nil
}

// reason is what a client may know of an error: a mistake of the caller in
// full, anything else not at all.
func reason(err error) string {
	if mistake, ok := errors.AsType[*tools.Error](err); ok {
		return mistake.Error()
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
func (t *task) credit(ctx context.Context, s *Score, turns []turn, played *tools.Trajectory) (float64, error) {
	switch {
	case t.plan != nil:
		return t.compare(s, turns), nil
	case played != nil:
		return t.follow(s, played), nil
	}
	return t.replay(ctx, s, turns)
}

// complete decides about completion. Credit for a task that needs calls needs a
// valid one, an environment's task that needs none gets none for any attempt, and
// no credit is given when the model made a tool's result up.
func (s *Score) complete(t *task, turns []turn, credit float64) {
	valid := false
	for i := range s.Calls {
		valid = valid || s.Calls[i].valid()
	}
	for _, turn := range turns {
		if turn.reading.Has(parse.DefectFabricated) {
			credit = 0
		}
	}
	if t.needsCall() && !valid || t.task.NeedsNoCall && len(s.Calls) > 0 {
		credit = 0
	}
	s.Success = credit == 1
	s.Criteria.set(mCompletion, credit)
}

// valid reports whether the attempt is a call that its schema admits.
func (c *Call) valid() bool { return c.Counts() && c.SchemaValid != nil && *c.SchemaValid }
