package grpo

import (
	"context"

	"toolgym/grpo/match"
	"toolgym/internal/refusal"
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
func expectedTask(ctx context.Context, set *toolset, expected match.Expected) (*task, error) {
	plan, err := expected.CompileFor(ctx, set.offered)
	if err != nil {
		return nil, refusal.Below("/expected", err)
	}
	return &task{toolset: set, plan: plan}, nil
}

// playedTask is a task of an environment.
func (s *Scorer) playedTask(id string) (*task, error) {
	spec, t, err := s.envs.Task(id)
	if err != nil {
		return nil, refusal.Move("/task_id", err)
	}
	return &task{toolset: s.toolsets.of(spec.Tools(t.Rules, t.Level)), spec: spec, task: t}, nil
}

// needsCall reports whether the task cannot be solved without a call.
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

// valid reports whether the attempt is a call that its schema admits.
func (c *Call) valid() bool { return c.Counts() && c.SchemaValid != nil && *c.SchemaValid }
