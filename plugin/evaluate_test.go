package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// itemsOf are n tasks of each level, from seed 100 on.
func itemsOf(t *testing.T, spec tools.Spec, n uint64, levels ...string) []eval.Item {
	t.Helper()
	var items []eval.Item
	for _, level := range levels {
		for seed := range n {
			task, err := spec.Task("", level, 100+seed)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, eval.EnvItem(spec, task))
		}
	}
	return items
}

func arithmeticItems(t *testing.T, n uint64, levels ...string) []eval.Item {
	t.Helper()
	return itemsOf(t, arithmetic.Spec(), n, levels...)
}

func scorer(t *testing.T) *grpo.Scorer {
	t.Helper()
	scorer, err := grpo.NewScorer(tools.Specs{arithmetic.Spec(), gridworld.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	return scorer
}

// player makes an agent whose model says the lines, whatever the task.
func player(lines []llms.ContentChoice, fails map[int]error) func(int, *plugin.Recorder) (tools.Agent, error) {
	return func(_ int, recorder *plugin.Recorder) (tools.Agent, error) {
		return plugin.NewAgent(plugin.AgentConfig{Model: &script{lines: lines, fails: fails}, Callbacks: recorder})
	}
}

func TestEvaluate(t *testing.T) {
	items := arithmeticItems(t, 1, "0")
	solved := solution(t, arithmetic.Spec(), items[0].Task)
	silent := says("")
	silent.GenerationInfo = nil
	type figures struct {
		Passed, ModelFailed, ServingLost, Infrastructure int
		Turns                                            float64
	}
	tests := []struct {
		name  string
		lines []llms.ContentChoice
		fails map[int]error
		want  figures
	}{
		{"solved", solved, nil, figures{Passed: 2, Turns: 3}},
		{"solved after a stray call", append([]llms.ContentChoice{says("", "guess{}")}, solved...), nil, figures{Passed: 2, Turns: 4}},
		{"given up", nil, nil, figures{ModelFailed: 2, Turns: 1}},
		{"an answer that the server lost", []llms.ContentChoice{says("")}, nil, figures{ServingLost: 2}},
		{"a silent model", []llms.ContentChoice{silent}, nil, figures{ModelFailed: 2, Turns: 1}},
		{"a model that falls silent", []llms.ContentChoice{solved[0], silent}, nil, figures{ModelFailed: 2, Turns: 2}},
		{"a model that is not there", nil, map[int]error{0: errDead}, figures{Infrastructure: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			trials, summary, err := plugin.Evaluate(t.Context(), plugin.Evaluation{
				Run: "r", Model: "m", Items: items, Trials: 2, Scorer: scorer(t), Workers: 2,
				New: player(test.lines, test.fails), Source: rand.NewPCG(1, 1)})
			if err != nil {
				t.Fatal(err)
			}
			got := figures{summary.Passed, summary.ModelFailed, summary.ServingLost, summary.InfrastructureExcluded, summary.Turns}
			if diff := cmp.Diff(test.want, got); diff != "" || len(trials) != 2 {
				t.Errorf("%d trials, first failure %+v\n%s", len(trials), trials[0].Failure, diff)
			}
		})
	}
}

func TestEvaluateEndsWithItsContext(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancel(t.Context())
	items := arithmeticItems(t, 5, "0")
	_, _, err := plugin.Evaluate(ctx, plugin.Evaluation{Items: items, Scorer: scorer(t), Source: rand.NewPCG(1, 1),
		New: func(int, *plugin.Recorder) (tools.Agent, error) { cancel(); return nothing{}, nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// nothing is an agent that does nothing.
type nothing struct{}

func (nothing) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, _ tools.Caller) error {
	return ctx.Err()
}

func TestEvaluateRefuses(t *testing.T) {
	if _, _, err := plugin.Evaluate(t.Context(), plugin.Evaluation{}); !errors.As(err, new(*tools.Error)) {
		t.Errorf("got %v", err)
	}
}
