package eval

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// A Baseline plays by an agent in place of a model: what doing nothing is
// worth, or guessing, or knowing the answer. Each trial gets an agent of its
// own, made from the trial's seed.
type Baseline struct {
	Name string
	New  func(seed int) tools.Agent
}

var _ Driver = Baseline{}

// Trials plays every item a number of times and grades it as a model is
// graded. Nothing is kept.
func (b Baseline) Trials(ctx context.Context, items []Item, trials int, scorer *grpo.Scorer) ([]Trial, error) {
	var list []Trial
	for _, item := range items {
		for k := range trials {
			r := Record{Trial: Trial{Run: b.Name, Model: b.Name, Route: "agent", Task: item.Task.ID, Env: item.Task.Env, Level: item.Task.Level, Trial: k}}
			transcript, err := b.Run(ctx, item.env(), item.Task, k)
			if err != nil {
				return nil, fmt.Errorf("playing the baseline %s: %w", b.Name, err)
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

// Run plays the task and writes down what the agent did as a model would have:
// one call a message.
func (b Baseline) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error) {
	trajectory, err := tools.Rollout(ctx, env, task, b.New(seed))
	if err != nil {
		return rollout.Transcript{}, err
	}
	transcript := rollout.Transcript{Trajectory: trajectory, Messages: []json.RawMessage{}, FinishReason: "stop"}
	for _, step := range trajectory.Steps {
		if err := note(&transcript, step); err != nil {
			return rollout.Transcript{}, err
		}
	}
	if len(transcript.Messages) == 0 { // it said nothing, which is an answer too
		err = note(&transcript, tools.Step{})
	}
	return transcript, err
}

// note adds a step to the transcript as the messages of a chat.
func note(transcript *rollout.Transcript, step tools.Step) error {
	said := map[string]any{"role": "assistant", "content": step.Message}
	messages := []map[string]any{said}
	if step.Call.Name != "" {
		said["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": step.Call.Name, "arguments": arguments(step.Call)}}}
		messages = append(messages, map[string]any{"role": "tool", "tool_name": step.Call.Name, "content": string(step.Result.Content)})
	}
	for _, message := range messages {
		text, err := json.Marshal(message)
		if err != nil {
			return fmt.Errorf("writing down a step: %w", err)
		}
		transcript.Messages = append(transcript.Messages, text)
	}
	transcript.Turns = append(transcript.Turns, rollout.Turn{})
	return nil
}

func arguments(call tools.Call) json.RawMessage {
	if len(call.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return call.Arguments
}
