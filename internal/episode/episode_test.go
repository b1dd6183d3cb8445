package episode_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/episode"
	"toolgym/tools"
)

func TestTasksThatDoNotExist(t *testing.T) {
	levels := func(rules string) []string {
		return map[string][]string{tools.Sound: {"0", "1"}, tools.Documented: {"0"}}[rules]
	}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"known", episode.CheckLevel(tools.Sound, "1", levels), "<nil>"},
		{"level of other rules", episode.CheckLevel(tools.Documented, "1", levels), `level: unknown level "1" under the documented rules; expected one of 0`},
		{"no level", episode.CheckLevel(tools.Sound, "", levels), `level: unknown level "" under the sound rules; expected one of 0, 1`},
		{"rules", episode.CheckLevel("loose", "0", levels), `rules: unknown rules "loose"; expected one of sound, documented`},
		{"its own task", episode.CheckEnv("maze", tools.Task{Env: "maze"}), "<nil>"},
		{"another's task", episode.CheckEnv("maze", tools.Task{Env: "chess"}), `env: a task of "chess"; expected a task of maze`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := fmt.Sprint(test.err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestTurns(t *testing.T) {
	type outcome struct{ Terminated, Truncated, Open bool }
	tests := []struct {
		name  string
		limit int
		ended []bool
		want  []outcome
	}{
		{"goes on below the limit", 3, []bool{false, false}, []outcome{{Open: true}, {Open: true}}},
		{"the limit truncates", 2, []bool{false, false}, []outcome{{Open: true}, {Truncated: true}}},
		{"the end terminates", 2, []bool{true}, []outcome{{Terminated: true}}},
		{"the end wins over the limit", 2, []bool{false, true}, []outcome{{Open: true}, {Terminated: true}}},
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

func TestTurnsAreClosedUntilBegun(t *testing.T) {
	var turns episode.Turns
	var e *tools.Error
	if err := turns.CheckRunning(); !errors.As(err, &e) || e.Code != tools.Conflict {
		t.Errorf("error %v, want a conflict", err)
	}
	turns.Begin(1)
	turns.Step(tools.Call{}, tools.Result{}, 0, false)
	turns.Begin(1)
	if err := turns.CheckRunning(); err != nil {
		t.Errorf("closed after a second beginning: %v", err)
	}
}
