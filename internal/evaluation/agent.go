package evaluation

import (
	"context"
	"math/rand/v2"

	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/internal/refusal"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

// The agents that play without a language model.
const (
	agentIdle   = "idle"   // does nothing
	agentRandom = "random" // calls at random, by the seed of each trial
	agentOracle = "oracle" // the environment's own, which knows the answer
)

// Agents names those that [RouteAgent] has for a model: what a run of a model is
// held against.
func Agents() []string { return []string{agentIdle, agentRandom, agentOracle} }

// An agentDriver plays by an agent of its name.
type agentDriver struct {
	name  string
	specs tools.Specs
}

var _ eval.Driver = agentDriver{}

// Run plays a task and writes it down as a model would have. An environment
// without an oracle cannot be played by one.
func (d agentDriver) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error) {
	agent := baseline.Idle()
	switch d.name {
	case agentRandom:
		agent = baseline.Random(rand.NewPCG(uint64(seed), 0))
	case agentOracle:
		spec, err := d.specs.Lookup(task.Env)
		if err != nil || spec.Oracle == nil {
			return rollout.Transcript{}, refusal.New("model", "another agent", "%.40q has no oracle", task.Env)
		}
		agent = spec.Oracle
	}
	return eval.Baseline{Name: d.name, New: func(int) tools.Agent { return agent }}.Run(ctx, env, task, seed)
}
