package plugin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"

	"toolgym/internal/ollamatest"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// TestAgentPlaysWithTheRealOllama: whole episodes, as tools.Rollout plays them.
func TestAgentPlaysWithTheRealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	noLeak(t)
	tests := []struct {
		name, model, level string
		spec               tools.Spec
		success            bool
	}{
		{"a sum", ollamatest.Tools, "0", arithmetic.Spec(), true},
		{"a longer sum", ollamatest.Tools, "1", arithmetic.Spec(), true},
		{"a weaker model", ollamatest.Base, "1", arithmetic.Spec(), false},
		{"the grid", ollamatest.Tools, "0", gridworld.Spec(), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			task, err := test.spec.Task("", test.level, 7)
			if err != nil {
				t.Fatal(err)
			}
			agent := agentOf(t, plugin.AgentConfig{Model: ollamaModel(t, server, test.model)})
			played, err := tools.Rollout(t.Context(), test.spec.New(), task, agent)
			if err != nil {
				t.Fatal(err)
			}
			if played.Success != test.success || len(played.Steps) == 0 {
				t.Errorf("success %v after %d steps", played.Success, len(played.Steps))
			}
		})
	}
}

// TestExecutorWithTheRealOllama: the same through langchaingo's executor, on an
// environment that it is given as tools.
func TestExecutorWithTheRealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	noLeak(t)
	spec := arithmetic.Spec()
	task, err := spec.Task("", "1", 7)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	offered, err := plugin.EpisodeTools(env)
	if err != nil {
		t.Fatal(err)
	}
	agent := agentOf(t, plugin.AgentConfig{Model: ollamaModel(t, server, ollamatest.Tools), Tools: offered})
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(32))
	output, err := chains.Run(t.Context(), executor, task.Prompt[0].Content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"accepted":true}`, output); diff != "" || !env.Success() {
		t.Errorf("success %v, output %s", env.Success(), output)
	}
}
