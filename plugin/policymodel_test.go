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
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/research"
)

// trained is a policy that has learnt stage 0 of arithmetic, in some seconds.
func trained(t *testing.T, updates int) *policy.Net {
	t.Helper()
	config := policy.Default(policy.UpdateA2C, policy.PoolOrdered)
	net, err := policy.NewNet(config, rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	learner, err := policy.NewLearner(net)
	if err != nil {
		t.Fatal(err)
	}
	env, rng, batch := arithmetic.NewEnumerator(), rand.New(rand.NewPCG(1, 2)), learner.NewBatch()
	seeds := make([]uint64, config.Batch)
	begin := func(i int) {
		if err := env.Start(tools.Sound, "0", seeds[i]); err != nil {
			t.Fatal(err)
		}
	}
	for range updates {
		for i := range seeds {
			seeds[i] = rng.Uint64()
			begin(i)
			batch.Prompts[i] = policy.Prompt{Context: env.Context(nil)}
		}
		if err := learner.Sample(batch, rng); err != nil {
			t.Fatal(err)
		}
		batch.Play(begin, env.Act)
		if _, err := learner.Update(batch); err != nil {
			t.Fatal(err)
		}
	}
	return net
}

// TestPolicyModel tests an agent end to end without any language model: the
// policy learns stage 0 here, then the agent plays it, in both ways.
func TestPolicyModel(t *testing.T) {
	noLeak(t)
	spec, items := arithmetic.Spec(), arithmeticItems(t, 20, "0")
	net := trained(t, 120)
	var tasks []tools.Task
	for _, item := range items {
		tasks = append(tasks, item.Task)
	}
	model, err := plugin.NewPolicyModel(net, spec, tasks...)
	if err != nil {
		t.Fatal(err)
	}
	drivers := map[string]eval.Driver{
		"Play": plugin.Driver{New: func(_ int, r *plugin.Recorder) (tools.Agent, error) {
			return plugin.NewAgent(plugin.AgentConfig{Model: model, Callbacks: r})
		}},
		"an executor": inExecutor(0, func(offered []lctools.Tool, r *plugin.Recorder) (agents.Agent, error) {
			return plugin.NewAgent(plugin.AgentConfig{Model: model, Tools: offered, Callbacks: r})
		}),
	}
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
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

func TestPolicyModelRefuses(t *testing.T) {
	net, err := policy.NewNet(policy.Default(policy.UpdateA2C, policy.PoolOrdered), rand.NewPCG(1, 1))
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
