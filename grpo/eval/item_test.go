package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"toolgym/grpo/eval"
	"toolgym/grpo/match"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/baseline"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestItemsComeBackFromAPlan(t *testing.T) {
	spec := arithmetic.Spec()
	task, err := spec.Task("", "1", 17)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range append(items(t, "right"), eval.EnvItem(spec, task)) {
		t.Run(item.Task.ID, func(t *testing.T) {
			kept, err := item.RunTask()
			if err != nil {
				t.Fatal(err)
			}
			again, err := eval.Restore(t.Context(), tools.Specs{spec}, kept, map[string]tools.Set{})
			if err != nil {
				t.Fatal(err)
			}
			if twice, err := again.RunTask(); err != nil || twice.Hash != kept.Hash {
				t.Errorf("hash %s became %s, %v", kept.Hash, twice.Hash, err)
			}
		})
	}
}

func TestRestoreRefusesATaskThatHasChanged(t *testing.T) {
	spec := arithmetic.Spec()
	task, err := spec.Task("", "1", 17)
	if err != nil {
		t.Fatal(err)
	}
	task.Prompt = append([]tools.Message{{Role: "system", Content: "An older prompt."}}, task.Prompt...)
	kept, err := eval.EnvItem(spec, task).RunTask()
	if err != nil {
		t.Fatal(err)
	}
	var refused *tools.Error
	if _, err := eval.Restore(t.Context(), tools.Specs{spec}, kept, map[string]tools.Set{}); !errors.As(err, &refused) || refused.Code != tools.Conflict {
		t.Errorf("got %v", err)
	}
}

func TestAskRefusesWhatCanNotBeAnswered(t *testing.T) {
	item := items(t, "right")[0]
	for _, test := range []struct {
		name, call, arguments string
	}{
		{"a tool that is not offered", "divide", `{"a":1,"b":2}`},
		{"arguments that the schema refuses", "add", `{"a":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			expected := match.Expected{Calls: []match.Call{{Name: test.call, Arguments: json.RawMessage(test.arguments)}}}
			var refused *tools.Error
			if _, err := eval.Ask(t.Context(), item.Task, item.Tools, expected); !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The oracle of an environment passes all of its tasks when it is graded as a
// model would be, and an agent that does nothing passes none.
func TestBaselines(t *testing.T) {
	spec := arithmetic.Spec()
	var list []eval.Item
	for seed := range uint64(8) {
		task, err := spec.Task("", "1", seed)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, eval.EnvItem(spec, task))
	}
	for _, test := range []struct {
		name  string
		agent tools.Agent
		want  float64
	}{{"oracle", spec.Oracle, 1}, {"nothing", nothing{}, 0}} {
		t.Run(test.name, func(t *testing.T) {
			kept := &ledger{}
			r := runner(t, newScripted(t), kept, 2, list)
			r.Scorer = scorer(t, tools.Specs{spec})
			r.Run.Routes = []string{"agent"}
			r.Servers[0].Drivers = map[string]eval.Driver{"agent": eval.Baseline{New: func(int) tools.Agent { return test.agent }}}
			if err := r.Play(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := eval.Summarize(kept.trials(), rand.NewPCG(1, 1))
			if s.Success == nil || *s.Success != test.want || s.Trials != 16 {
				t.Errorf("%+v", s)
			}
			if s.Tiers["none"] > 0 || strings.Contains(asJSON(t, kept.records), "mismatch") {
				t.Errorf("tiers %v", s.Tiers)
			}
		})
	}
}

type nothing struct{}

func (nothing) Play(context.Context, tools.Task, json.RawMessage, tools.Caller) error { return nil }

// A baseline omits what it cannot play, with the reason, and plays the rest.
func TestBaselineOmissions(t *testing.T) {
	list := items(t, "right", "wrong", "500")
	list[1].Tools = nil
	agents := map[string]func(int) tools.Agent{
		"there is no tool to call":    func(seed int) tools.Agent { return baseline.Random(rand.NewPCG(uint64(seed), 0)) },
		"internal error":              func(int) tools.Agent { return faulty{} },
		"the policy has no such tool": func(int) tools.Agent { return faulty{errors.New("the policy has no such tool")} },
	}
	for want, agent := range agents {
		t.Run(want, func(t *testing.T) {
			played, omitted, err := eval.Baseline{Name: "b", New: agent}.Trials(t.Context(), list, 2, scorer(t, nil))
			if err != nil {
				t.Fatal(err)
			}
			if len(played) != 4 || len(omitted) != 1 || omitted[0].Item.Task.ID != "own/0/1" || !strings.Contains(omitted[0].Reason, want) || strings.Contains(omitted[0].Reason, "defect") {
				t.Errorf("%d trials, omitted %+v", len(played), omitted)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (eval.Baseline{Name: "b", New: agents["there is no tool to call"]}).Trials(ended, list, 2, scorer(t, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// faulty is an agent that fails where there are no tools: by its error, or by
// panicking.
type faulty struct{ err error }

func (f faulty) Play(_ context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	switch {
	case len(caller.Tools()) > 0:
		return nil
	case f.err != nil:
		return f.err
	}
	panic("a defect")
}
