package episode_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/episode"
	"toolgym/tools"
)

func TestChecks(t *testing.T) {
	levels := func(rules string) []string {
		return map[string][]string{tools.Sound: {"0", "1"}, tools.Documented: {"0"}}[rules]
	}
	tests := []struct {
		name string
		err  error
		want *tools.Error // nil if there is no error
	}{
		{"valid", episode.CheckLevel(tools.Sound, "1", levels), nil},
		{"level of other rules", episode.CheckLevel(tools.Documented, "1", levels),
			&tools.Error{Code: tools.Invalid, Where: "level", Message: `unknown level "1" under the documented rules`, Want: "one of 0"}},
		{"no level", episode.CheckLevel(tools.Sound, "", levels),
			&tools.Error{Code: tools.Invalid, Where: "level", Message: `unknown level "" under the sound rules`, Want: "one of 0, 1"}},
		{"unknown rules", episode.CheckLevel("loose", "0", levels),
			&tools.Error{Code: tools.Invalid, Where: "rules", Message: `unknown rules "loose"`, Want: "one of sound, documented"}},
		{"own task", episode.CheckEnv("maze", tools.Task{Env: "maze"}), nil},
		{"task of another environment", episode.CheckEnv("maze", tools.Task{Env: "chess"}),
			&tools.Error{Code: tools.Invalid, Where: "env", Message: `task of environment "chess"`, Want: "a task of maze"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := errors.AsType[*tools.Error](test.err)
			if ok != (test.err != nil) {
				t.Fatalf("got %v, want a *tools.Error", test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTurns(t *testing.T) {
	type outcome struct{ Terminated, Truncated, Running bool }
	tests := []struct {
		name  string
		limit int
		ended []bool
		want  []outcome
	}{
		{"below the limit", 3, []bool{false, false}, []outcome{{Running: true}, {Running: true}}},
		{"truncated at the limit", 2, []bool{false, false}, []outcome{{Running: true}, {Truncated: true}}},
		{"terminated at the end", 2, []bool{true}, []outcome{{Terminated: true}}},
		{"terminated at the limit", 2, []bool{false, true}, []outcome{{Running: true}, {Terminated: true}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var turns episode.Turns
			turns.Begin(test.limit)
			var got []outcome
			for _, ended := range test.ended {
				step := turns.Step(tools.Call{}, tools.Result{}, 0, ended)
				got = append(got, outcome{step.Terminated, step.Truncated, turns.CheckRunning() == nil})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTurnsWithoutEpisode(t *testing.T) {
	var turns episode.Turns
	var e *tools.Error
	if err := turns.CheckRunning(); !errors.As(err, &e) || e.Code != tools.Conflict {
		t.Errorf("got error %v, want one with code conflict", err)
	}
	turns.Begin(1)
	turns.Step(tools.Call{}, tools.Result{}, 0, false)
	turns.Begin(1)
	if err := turns.CheckRunning(); err != nil {
		t.Errorf("after the second Begin: %v", err)
	}
}
