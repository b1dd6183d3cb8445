package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
)

// script plays fixed calls and stops when the episode is over.
type script struct {
	calls []string
	say   string
	err   error
}

func (s script) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, name := range s.calls {
		step, err := caller.Step(ctx, tools.Call{Name: name})
		if err != nil {
			return err
		}
		if step.Done() {
			return s.err
		}
	}
	if s.say != "" {
		if _, err := caller.(tools.Speaker).Say(ctx, s.say); err != nil {
			return err
		}
	}
	return s.err
}

func play(t *testing.T, seed uint64, agent tools.Agent) (tools.Trajectory, error) {
	t.Helper()
	task, err := specs()[0].Task("", "", seed)
	if err != nil {
		t.Fatal(err)
	}
	return tools.Rollout(t.Context(), newCountdown(), task, agent)
}

func TestRollout(t *testing.T) {
	tests := []struct {
		name                           string
		agent                          script
		steps                          int
		terminated, truncated, success bool
		sum                            float64
	}{
		{"solves it", script{calls: []string{"down", "down", "down"}}, 2, true, false, true, 0.75},
		{"gives up", script{calls: []string{"down"}}, 1, false, false, false, -0.25},
		{"runs into the limit", script{calls: []string{"x", "x", "x", "x", "x"}}, 4, false, true, false, -0.75},
		{"talks to nobody", script{say: "hello"}, 1, false, false, false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := play(t, 1, test.agent)
			if err != nil {
				t.Fatal(err)
			}
			want := tools.Trajectory{Task: got.Task, Observation: got.Observation, Steps: got.Steps,
				Return: test.sum, Terminated: test.terminated, Truncated: test.truncated, Success: test.success}
			if diff := cmp.Diff(want, got); diff != "" || len(got.Steps) != test.steps {
				t.Errorf("%d steps, want %d\n%s", len(got.Steps), test.steps, diff)
			}
		})
	}
}

func TestRolloutKeepsWhatWasPlayedBeforeAnError(t *testing.T) {
	broken := errors.New("the line is dead")
	got, err := play(t, 1, script{calls: []string{"down"}, err: broken})
	if !errors.Is(err, broken) || len(got.Steps) != 1 {
		t.Errorf("%d steps, error %v", len(got.Steps), err)
	}
}

func TestSpokenStepHasNoCall(t *testing.T) {
	step := tools.Termination(tools.Call{Name: "f"}, tools.Result{IsError: true}, 1).Spoken("hi")
	text, err := json.Marshal(step)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"message":"hi","reward":1,"terminated":true,"truncated":false}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}
