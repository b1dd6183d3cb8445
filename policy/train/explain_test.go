package train_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// TestExplain holds explanations to the plans that the same network makes of the
// same tasks, cut off where each was over.
func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		spec  tools.Spec
		level string
	}{"arithmetic": {arithmetic.Spec(), "2"}, "gridworld": {gridworld.Spec(), "1"}} {
		t.Run(name, func(t *testing.T) {
			const tasks, from = 6, 40
			choice := sound(train.A2C, 3)
			choice.Levels = []string{c.level}
			net := started(t, c.spec, configured(t, c.spec, choice, func(c *train.Config) { c.Network.Hidden = 8 })).Net()
			list, err := train.Explain(net, c.spec, tools.Sound, c.level, from, tasks)
			if err != nil {
				t.Fatal(err)
			}
			env, prompts := c.spec.Enumerate(), make([]policy.Prompt, tasks)
			for i := range prompts {
				if err := env.Start(tools.Sound, c.level, from+uint64(i)); err != nil {
					t.Fatal(err)
				}
				if err := prompts[i].Read(env, c.level); err != nil {
					t.Fatal(err)
				}
			}
			plans, err := policy.NewActor(net).Plan(prompts, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range list {
				n := len(e.Plan)
				if diff := cmp.Diff([][]float64{plans[i].Probs[:n], plans[i].Values[:n]}, [][]float64{e.Probs, e.Values}); diff != "" {
					t.Errorf("task %d: planned (-) and explained (+):\n%s", i, diff)
				}
				for s, text := range e.Plan {
					if text != c.spec.Enumerate().Token(plans[i].Tokens[s]) {
						t.Errorf("task %d: token %d is %s", i, s, text)
					}
				}
				if task, err := c.spec.Task(tools.Sound, c.level, from+uint64(i)); err != nil || e.Task != task.ID || e.Optimal != task.Optimal || (e.Target != "") != (name == "arithmetic") {
					t.Errorf("%+v, %v", e, err)
				}
			}
		})
	}
}

func TestExplainRefuses(t *testing.T) {
	net := started(t, arithmetic.Spec(), small(t, sound(train.A2C, 1), 10)).Net()
	for name, c := range map[string]struct {
		spec   tools.Spec
		level  string
		n      int
		reason string
	}{
		"no tasks":                      {arithmetic.Spec(), "0", 0, "n: 0 tasks; expected at least 1"},
		"an environment without plans":  {research.Spec(), "0", 1, "env: research has no plans"},
		"a context that does not fit":   {gridworld.Spec(), "3", 1, "/0/context: "},
		"a level that is no stage":      {arithmetic.Spec(), "large", 1, "large"},
		"a level that there is nowhere": {arithmetic.Spec(), "9", 1, "9"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := train.Explain(net, c.spec, tools.Sound, c.level, 0, c.n)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			wantRefused(t, err, "")
		})
	}
}
