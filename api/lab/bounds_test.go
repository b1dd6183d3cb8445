package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLongEpisodesEndAsTheyEnd: turns in the middle are left out, not the end.
func TestLongEpisodesEndAsTheyEnd(t *testing.T) {
	l := newLab(t)
	v := staged(t, l, "env", "gridworld", "level", "0", "before", "random")
	spec, task, err := l.config.Specs.Task(v.Task.ID)
	if err != nil {
		t.Fatal(err)
	}
	p, err := baselineOf("before", "random", spec, task)
	if err != nil {
		t.Fatal(err)
	}
	walk, err := scene{spec, task}.shown(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := l.grade(t.Context(), v.Settings, task, []take{walk}, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := scored.Groups[0].Completions[0].Calls
	var end struct{ Agent [2]int }
	if err := json.Unmarshal(calls[len(calls)-1].Result.Content, &end); err != nil || len(calls) <= mostTurns+1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	e := v.Columns[0]
	last := e.Frames[len(e.Frames)-1]
	if len(e.Turns) != mostTurns || e.Left != len(calls)-mostTurns || v.Steps != mostTurns+1 || len(e.Frames) != mostTurns+2 || last.Step != v.Steps {
		t.Errorf("of %d turns %d are shown and %d left, in %d steps and %d frames, the last one of step %d", len(calls), len(e.Turns), e.Left, v.Steps, len(e.Frames), last.Step)
	}
	if want := fmt.Sprintf("The agent at (%d,%d)", end.Agent[0], end.Agent[1]); !last.Last || !strings.Contains(last.Words, want) {
		t.Errorf("the end is drawn as %q, want %q", last.Words, want)
	}
}
