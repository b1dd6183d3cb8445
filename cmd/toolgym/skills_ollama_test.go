package main

import (
	"context"
	"encoding/json"
	"testing"

	"toolgym/grpo/rollout"
	"toolgym/internal/ollamatest"
	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// macros calls tools by name.
type macros []string

func (m macros) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, name := range m {
		if _, err := caller.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage("{}")}); err != nil {
			return err
		}
	}
	return nil
}

// TestSkillsOfALanguageModel has a real model solve the published layout,
// extracts what it did, and replays it by three macros.
func TestSkillsOfALanguageModel(t *testing.T) {
	server := ollamatest.Start(t)
	cold := 0.0
	chat := rollout.Chat{Config: rollout.Config{URL: server.URL, Model: ollamatest.Tools, Temperature: &cold}.WithDefaults()}
	spec := gridworld.Spec()
	task, err := spec.Task("", "0", 0)
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := chat.Run(t.Context(), spec.New(), task, 1)
	if err != nil || transcript.Failure != nil || !transcript.Trajectory.Success {
		t.Fatalf("the model's own run: success %t after %d steps, failure %+v, %v", transcript.Trajectory.Success, len(transcript.Trajectory.Steps), transcript.Failure, err)
	}
	library := skill.NewLibrary(tools.Sound)
	found, err := skill.Extract(transcript.Trajectory)
	if err != nil {
		t.Fatal(err)
	}
	longest := map[string]skill.Skill{} // by what it gains
	for _, s := range found {
		if _, err := library.Add(s); err != nil {
			t.Fatal(err)
		}
		if len(s.Actions) > len(longest[s.Gains].Actions) {
			longest[s.Gains] = s
		}
	}
	var calls macros
	for _, gain := range []string{"has_key", "door_open", "at_goal"} {
		calls = append(calls, skill.Prefix+longest[gain].Name)
	}
	trajectory, err := tools.Rollout(t.Context(), skill.AddTools(spec, library).New(), task, calls)
	if err != nil || !trajectory.Success || len(trajectory.Steps) != 3 {
		t.Fatalf("replaying %v: %+v, %v", calls, trajectory, err)
	}
	if off := trajectory.Return - transcript.Trajectory.Return; off > 1e-9 || off < -1e-9 {
		t.Errorf("replayed for %v, the model earned %v", trajectory.Return, transcript.Trajectory.Return)
	}
	again, err := chat.Run(t.Context(), skill.AddTools(spec, library).New(), task, 1)
	if err != nil || again.Failure != nil || len(again.Turns) == 0 || again.Turns[0].PromptTokens <= transcript.Turns[0].PromptTokens {
		t.Errorf("with macros among its tools: %d prompt tokens, without %d; failure %+v, %v", again.Turns[0].PromptTokens, transcript.Turns[0].PromptTokens, again.Failure, err)
	}
	t.Logf("with macros offered the model's run: %d steps, success %t", len(again.Trajectory.Steps), again.Trajectory.Success)
	t.Logf("the model took %d steps; replayed by %v", len(transcript.Trajectory.Steps), calls)
}
