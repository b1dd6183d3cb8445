package policy

import (
	"context"
	"encoding/json"

	"toolgym/tools"
)

// NewAgent returns an agent that plays by a network: it reads a task as the
// environment's Enumerator encodes it, plans greedily before its first call, and
// makes the plan's calls. It is used by one goroutine at a time. A task that
// can not be planned is an [*tools.Error].
func NewAgent(n *Net, enumerate func() tools.Enumerator) tools.Agent {
	return &agent{env: enumerate(), actor: NewActor(n), prompts: make([]Prompt, 1)}
}

type agent struct {
	env     tools.Enumerator
	actor   *Actor
	prompts []Prompt
}

var _ tools.Agent = (*agent)(nil)

func (a *agent) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	calls, err := a.plan(task)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		step, err := caller.Step(ctx, call)
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

func (a *agent) plan(task tools.Task) ([]tools.Call, error) {
	if err := a.env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	if err := a.prompts[0].Read(a.env, task.Level); err != nil {
		return nil, err
	}
	a.actor.Refresh()
	plans, err := a.actor.Plan(a.prompts, nil)
	if err != nil {
		return nil, err
	}
	return a.env.Calls(task, plans[0].Tokens)
}
