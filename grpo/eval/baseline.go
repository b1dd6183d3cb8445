package eval

import (
	"context"
	"errors"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/goroutine"
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

// An Omission is an item that a baseline did not play, and why.
type Omission struct {
	Item   Item
	Reason string
	Err    error // for the log, if the baseline failed: the reason of a panic is only "internal error"
}

// Trials plays every item a number of times, and grades it as a model is
// graded. Nothing is kept. An item that the baseline is not for, cannot play, or
// that cannot be graded is omitted with all its trials; the error is the
// context's.
func (b Baseline) Trials(ctx context.Context, items []Item, trials int, scorer *grpo.Scorer) (list []Trial, omitted []Omission, err error) {
	for _, item := range items {
		var played []Trial
		reason, failed := b.Reason, error(nil)
		if b.Plays == nil || b.Plays(item) {
			played, reason, failed = b.item(ctx, item, trials, scorer)
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, fmt.Errorf("playing the baseline %s: %w", b.Name, ctx.Err())
		case played == nil && trials > 0:
			omitted = append(omitted, Omission{item, reason, failed})
		}
		list = append(list, played...)
	}
	return list, omitted, nil
}

// item plays one item, or returns why it could not.
func (b Baseline) item(ctx context.Context, item Item, trials int, scorer *grpo.Scorer) (list []Trial, reason string, failed error) {
	failed = goroutine.Run(func() error {
		for k := range trials {
			trial, ok, err := b.trial(ctx, item, k, scorer)
			if err != nil {
				return err
			}
			if !ok {
				reason = b.Reason
				return nil
			}
			list = append(list, trial)
		}
		return nil
	})
	switch {
	case failed != nil:
		return nil, cause(failed), failed
	case reason != "":
		return nil, reason, nil
	}
	return list, "", nil
}

// cause is an error as a reason: a caller's mistake without what wraps it, which
// differs between tasks, and a panic without its value.
func cause(err error) string {
	if _, ok := errors.AsType[*goroutine.PanicError](err); ok {
		return "internal error"
	}
	if refused, ok := errors.AsType[*tools.Error](err); ok {
		return refused.Error()
	}
	return err.Error()
}

// trial plays one trial. It reports false for an item without a reference
// solution.
func (b Baseline) trial(ctx context.Context, item Item, k int, scorer *grpo.Scorer) (trial Trial, ok bool, err error) {
	r := Record{Trial: Trial{Run: b.Name, Model: b.Name, Route: "agent", Task: item.Task.ID, Env: item.Task.Env, Level: item.Task.Level, Trial: k}}
	var transcript rollout.Transcript
	if b.New == nil {
		transcript, ok, err = item.reference(ctx)
	} else {
		transcript, err = b.Run(ctx, item.env(), item.Task, k)
		ok = true
	}
	if err != nil || !ok {
		return r.Trial, false, err
	}
	score, err := item.grade(ctx, scorer, transcript)
	if err == nil {
		err = r.fill(transcript, score)
	}
	return r.Trial, true, err
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
