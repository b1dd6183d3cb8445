package lab

import (
	"context"
	"encoding/json"
	"math/rand/v2"

	"toolgym/grpo"
	"toolgym/policy"
	"toolgym/tools"
)

// A take is one episode as it was played.
type take struct {
	completion grpo.Completion
	task       tools.Task
	plan       []int               // the tokens that were played, of a policy
	said       policy.PlanLogProbs // log-probabilities under the policy itself
}

// A scene is a task with all that it takes to play it.
type scene struct {
	spec tools.Spec
	task tools.Task
}

// script is an agent that makes the calls of a plan.
type script []tools.Call

func (s script) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, call := range s {
		step, err := caller.Step(ctx, call)
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// shown is the episode that stands in a player's column: a policy's likeliest
// plan, or a baseline's first try. Models have what was kept of them.
func (s scene) shown(ctx context.Context, p player) (take, error) {
	if p.net != nil {
		list, err := s.plans(ctx, p.net, 1, nil)
		if err != nil {
			return take{}, err
		}
		return list[0], nil
	}
	return s.watch(ctx, p.agent(0))
}

// group is what a player does in n tries: a policy samples.
func (s scene) group(ctx context.Context, p player, n int) ([]take, error) {
	if p.net != nil {
		return s.plans(ctx, p.net, n, rand.New(rand.NewPCG(s.task.Seed, 1)))
	}
	list := make([]take, n)
	for i := range list {
		var err error
		if list[i], err = s.watch(ctx, p.agent(uint64(i))); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// watch lets an agent play.
func (s scene) watch(ctx context.Context, agent tools.Agent) (take, error) {
	trajectory, err := tools.Rollout(ctx, s.spec.New(), s.task, agent)
	if err != nil {
		return take{}, err
	}
	completion, err := grpo.FromTrajectory(trajectory)
	return take{completion: completion, task: s.task}, err
}

// plans lets a policy plan n times, and plays each plan: greedily without a
// source.
func (s scene) plans(ctx context.Context, net *policy.Net, n int, rng *rand.Rand) ([]take, error) {
	prompt, err := promptOf(s.spec, s.task)
	if err != nil {
		return nil, err
	}
	made, err := policy.NewActor(net).Plan(repeated(prompt, n), rng)
	if err != nil {
		return nil, err
	}
	list, tokens := make([]take, n), make([][]int, n)
	env := s.spec.Enumerate()
	for i, plan := range made {
		if tokens[i], err = s.played(env, plan.Tokens); err != nil {
			return nil, err
		}
		calls, err := env.Calls(s.task, tokens[i])
		if err != nil {
			return nil, err
		}
		if list[i], err = s.watch(ctx, script(calls)); err != nil {
			return nil, err
		}
		n := len(tokens[i])
		list[i].plan, list[i].completion.Tokens = tokens[i], &n
	}
	said, err := s.judge(net, tokens)
	for i := range said {
		if list[i].said = said[i]; net.Config().Update == policy.UpdateGRPO {
			list[i].said.Values = nil // the critic is not trained
		}
	}
	return list, err
}

// played cuts a plan where the episode is over.
func (s scene) played(env tools.Enumerator, plan []int) ([]int, error) {
	if err := env.Start(s.task.Rules, s.task.Level, s.task.Seed); err != nil {
		return nil, err
	}
	for i, token := range plan {
		if _, done := env.Act(token); done {
			return plan[:i+1], nil
		}
	}
	return plan, nil
}

// judge returns the log-probabilities of plans under a network.
func (s scene) judge(net *policy.Net, plans [][]int) ([]policy.PlanLogProbs, error) {
	prompt, err := promptOf(s.spec, s.task)
	if err != nil {
		return nil, err
	}
	return policy.NewActor(net).LogProbs(repeated(prompt, len(plans)), plans)
}

func repeated(prompt policy.Prompt, n int) []policy.Prompt {
	list := make([]policy.Prompt, n)
	for i := range list {
		list[i] = prompt
	}
	return list
}

func plansOf(takes []take) [][]int {
	list := make([][]int, len(takes))
	for i := range takes {
		list[i] = takes[i].plan
	}
	return list
}
