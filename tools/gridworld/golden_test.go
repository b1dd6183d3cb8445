package gridworld_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/envtest"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

func TestContract(t *testing.T) { envtest.Run(t, gridworld.Spec()) }

// seen is a golden step, and what the tools show of one.
type seen struct {
	Reward   float64 `json:"reward"`
	Done     bool    `json:"done"`
	Agent    [2]int  `json:"agent"`
	HasKey   bool    `json:"has_key"`
	DoorOpen bool    `json:"door_open"`
	AtGoal   bool    `json:"at_goal"`
}

// TestDocumentedGolden plays every trace of the published rules' golden file,
// through the tools and so through the machine.
func TestDocumentedGolden(t *testing.T) {
	f, err := os.Open("testdata/gridworld_documented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	task, err := gridworld.Spec().Task(tools.Documented, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	traces := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); traces++ {
		var trace struct {
			Name  string
			Steps []struct {
				Action string
				seen
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &trace); err != nil {
			t.Fatal(err)
		}
		env := gridworld.Spec().New()
		if _, err := env.Reset(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		for i, want := range trace.Steps {
			step, err := env.Step(t.Context(), tools.Call{Name: want.Action})
			if err != nil {
				t.Fatal(err)
			}
			got := seen{Reward: step.Reward, Done: step.Done()}
			if err := json.Unmarshal(step.Result.Content, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.seen, got); diff != "" {
				t.Errorf("%s, step %d (-want +got):\n%s", trace.Name, i, diff)
			}
		}
	}
	if err := lines.Err(); err != nil || traces != 61 {
		t.Errorf("%d traces, want 61; %v", traces, err)
	}
}
