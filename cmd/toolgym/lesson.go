package main

import (
	"context"
	"fmt"

	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/policy/trained"
	"toolgym/tools"
)

// A lesson is what the demo teaches a policy on the spot: the three published
// stages of arithmetic.
type lesson struct {
	env     string
	net     *policy.Net
	records []telemetry.Record
	result  train.Result
}

// learn trains a small policy, which takes seconds.
func learn(ctx context.Context, specs tools.Specs, seed uint64) (*lesson, error) {
	const width, budget = 64, 1000
	l := &lesson{env: "arithmetic"}
	spec, err := specs.Lookup(l.env)
	if err != nil {
		return nil, err
	}
	config, err := train.Default(spec, train.Choice{
		Levels: []string{"0", "1", "2"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.GRPO, Pool: policy.PoolOrdered, Seed: seed,
	})
	if err != nil {
		return nil, err
	}
	config.Network.Hidden, config.Network.Compare, config.Updates, config.Convergence = width, false, budget, 0
	trainer, err := train.New(spec, config)
	if err != nil {
		return nil, err
	}
	l.result, err = trainer.Run(ctx, train.Options{Observe: l.note, CPU: train.CPUTime})
	l.net = trainer.Net()
	return l, err
}

func (l *lesson) note(r telemetry.Record) error {
	l.records = append(l.records, r)
	return nil
}

// contestant lets the policy take part. In the gridworld, which it has not
// learnt, the policies in the binary play.
func (l *lesson) contestant(specs tools.Specs) (contestant, error) {
	spec, err := specs.Lookup("gridworld")
	if err != nil {
		return contestant{}, err
	}
	grid, err := trained.Agent(spec)
	if err != nil {
		return contestant{}, err
	}
	return contestant{"policy", func(spec tools.Spec, _ uint64) player {
		if spec.Name != l.env {
			return agent{grid}
		}
		return agent{policy.NewAgent(l.net, spec.Enumerate)}
	}}, nil
}

// curve tells how the lesson went.
func (l *lesson) curve() string {
	return fmt.Sprintf("The policy learnt %s in %d updates of 192 plans, %.1f s of CPU:\n\n%s", l.env, l.result.Updates, l.result.CPU, telemetry.Chart(l.records))
}
