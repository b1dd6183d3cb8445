package plugin_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/grpo/eval"
	"toolgym/plugin"
	"toolgym/policy"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// TestPolicyModel tests an agent end to end without any language model: the
// policies in the binary play, each the level that it is loaded for, in both ways.
func TestPolicyModel(t *testing.T) {
	noLeak(t)
	for _, c := range []struct {
		spec  tools.Spec
		level string
	}{{arithmetic.Spec(), "0"}, {arithmetic.Spec(), "3"}, {gridworld.Spec(), "0"}, {gridworld.Spec(), "1"}} {
		net, _, err := trained.Load(c.spec.Name, c.level)
		if err != nil {
			t.Fatal(err)
		}
		items := itemsOf(t, c.spec, 20, c.level)
		var tasks []tools.Task
		for _, item := range items {
			tasks = append(tasks, item.Task)
		}
		model, err := plugin.NewPolicyModel(net, c.spec, tasks...)
		if err != nil {
			t.Fatal(err)
		}
		for name, driver := range map[string]eval.Driver{
			"Play": plugin.Driver{New: func(_ int, r *plugin.Recorder) (tools.Agent, error) {
				return plugin.NewAgent(plugin.AgentConfig{Model: model, Callbacks: r})
			}},
			"an executor": inExecutor(0, func(offered []lctools.Tool, r *plugin.Recorder) (agents.Agent, error) {
				return plugin.NewAgent(plugin.AgentConfig{Model: model, Tools: offered, Callbacks: r})
			}),
		} {
			t.Run(c.spec.Name+" "+c.level+", "+name, func(t *testing.T) {
				passed := 0
				for _, record := range driven(t, items, driver) {
					if record.Success {
						passed++
					}
				}
				if passed < len(items)*9/10 {
					t.Errorf("the trained policy solves %d of %d", passed, len(items))
				}
			})
		}
	}
}

func TestPolicyModelRefuses(t *testing.T) {
	net, err := policy.NewNet(policy.Default(policy.UpdateA2C, policy.PoolOrdered, arithmetic.NewEnumerator().Vocabulary()), rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	large := arithmeticItems(t, 1, "large")[0].Task
	for name, test := range map[string]struct {
		spec tools.Spec
		task tools.Task
	}{
		"an environment without a policy": {research.Spec(), tools.Task{}},
		"a level without a machine":       {arithmetic.Spec(), large},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := plugin.NewPolicyModel(net, test.spec, test.task); !errors.As(err, new(*tools.Error)) {
				t.Errorf("got %v", err)
			}
		})
	}
	model, err := plugin.NewPolicyModel(net, arithmetic.Spec(), arithmeticItems(t, 1, "0")[0].Task)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llms.GenerateFromSinglePrompt(t.Context(), model, "Compute 1*1+1."); !llms.IsInvalidRequestError(err) {
		t.Errorf("an unknown task: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llms.GenerateFromSinglePrompt(ctx, model, "Compute 1*1+1."); !llms.IsCanceledError(err) {
		t.Errorf("a cancelled question: got %v", err)
	}
}
