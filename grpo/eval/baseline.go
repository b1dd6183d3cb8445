package eval

import (
	"context"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// A Baseline plays by an agent in place of a model: what doing nothing is
// worth, or guessing, or knowing the answer. Each trial gets the agent that New
// makes of the trial's seed; trials are played one after the other. Without New
// it is the reference solution of each item, where there is one.
type Baseline struct {
	Name string
	New  func(seed int) tools.Agent
	// Plays, if it is set, says which items the baseline is for.
	Plays func(Item) bool
	// Reason is why items are left out, for people to read.
	Reason string
}

var _ Driver = Baseline{}

// Trials plays every item that the baseline is for a number of times, and
// grades it as a model is graded. Nothing is kept.
func (b Baseline) Trials(ctx context.Context, items []Item, trials int, scorer *grpo.Scorer) ([]Trial, error) {
	var list []Trial
	for _, item := range items {
		for k := range trials {
			r := Record{Trial: Trial{Run: b.Name, Model: b.Name, Route: "agent", Task: item.Task.ID, Env: item.Task.Env, Level: item.Task.Level, Trial: k}}
			transcript, ok, err := b.play(ctx, item, k)
			if err != nil {
				return nil, fmt.Errorf("playing the baseline %s: %w", b.Name, err)
			}
			if !ok {
				continue
			}
			score, err := item.grade(ctx, scorer, transcript)
			if err != nil {
				return nil, err
			}
			if err := r.fill(transcript, score); err != nil {
				return nil, err
			}
			list = append(list, r.Trial)
		}
	}
	return list, nil
}

func (b Baseline) play(ctx context.Context, item Item, seed int) (transcript rollout.Transcript, ok bool, err error) {
	switch {
	case b.Plays != nil && !b.Plays(item):
		return transcript, false, nil
	case b.New == nil:
		return item.reference(ctx)
	}
	transcript, err = b.Run(ctx, item.env(), item.Task, seed)
	return transcript, true, err
}

// Run plays the task and writes down what the agent did as a model would have:
// one call a message.
func (b Baseline) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error) {
	trajectory, err := tools.Rollout(ctx, env, task, b.New(seed))
	if err != nil {
		return rollout.Transcript{}, err
	}
	completion, err := grpo.FromTrajectory(trajectory)
	if err != nil {
		return rollout.Transcript{}, err
	}
	transcript := rollout.Transcript{Family: completion.Family, Messages: completion.Messages, Trajectory: trajectory, FinishReason: "stop"}
	transcript.Turns = make([]rollout.Turn, max(1, len(trajectory.Steps)))
	return transcript, nil
}
