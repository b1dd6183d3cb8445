package main

import (
	"context"
	"math/rand/v2"

	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/refusal"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

// members is how many completions each contestant gives to a group.
const members = 4

// A contestant takes part in the demo; it enters anew for each episode.
type contestant struct {
	name  string
	enter func(spec tools.Spec, seed uint64) player
}

// A player plays one episode, over REST where it can, and hands in what is
// graded.
type player interface {
	play(ctx context.Context, caller *client.Client, task tools.Task) (grpo.Completion, error)
}

// contestants are those in the binary, and the model that the flags name.
func (c demoCommand) contestants(ctx context.Context) ([]contestant, error) {
	field := []contestant{
		{"random", func(_ tools.Spec, seed uint64) player { return agent{baseline.Random(rand.NewPCG(seed, 0))} }},
		{"oracle", func(spec tools.Spec, _ uint64) player { return agent{spec.Oracle} }},
	}
	if (c.Ollama == "") != (c.Model == "") {
		return nil, refusal.New("--ollama", "both --ollama and --model, or neither", "a server without a model, or a model without a server")
	}
	if c.Model == "" {
		return field, nil
	}
	config := rollout.Config{URL: c.Ollama, Model: c.Model}.WithDefaults()
	if _, err := config.Probe(ctx); err != nil {
		return nil, ofOllama(err)
	}
	return append(field, contestant{c.Model, func(spec tools.Spec, seed uint64) player { return model{rollout.Chat{Config: config}, spec, int(seed)} }}), nil
}

// agent is a player that is no language model: its steps are graded as the
// chat that they would have been.
type agent struct{ tools.Agent }

func (a agent) play(ctx context.Context, caller *client.Client, task tools.Task) (grpo.Completion, error) {
	trajectory, err := caller.Play(ctx, task.ID, a)
	if err != nil {
		return grpo.Completion{}, err
	}
	return grpo.FromTrajectory(trajectory)
}

// model is a language model: its own messages are graded. It plays in-process,
// where its transcript is kept.
type model struct {
	rollout.Chat
	spec tools.Spec
	seed int
}

func (m model) play(ctx context.Context, _ *client.Client, task tools.Task) (grpo.Completion, error) {
	transcript, err := m.Run(ctx, m.spec.New(), task, m.seed)
	return transcript.Completion(), err
}
