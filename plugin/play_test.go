package plugin_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"toolgym/plugin"
	"toolgym/tools"
)

func TestAgentPlays(t *testing.T) {
	up := says("", `up{}`)
	tests := []struct {
		name  string
		lines []llms.ContentChoice
		turns int
		want  tools.Trajectory
	}{
		{"to the end, in one turn", []llms.ContentChoice{says("", `up{}`, `up{}`, `up{}`)}, 0, tools.Trajectory{Return: 1.5, Terminated: true, Success: true}},
		{"to the end, and is not asked again", []llms.ContentChoice{up, up, up, says("", `up{}`)}, 0, tools.Trajectory{Return: 1.5, Terminated: true, Success: true}},
		{"and gives up with a word", []llms.ContentChoice{up}, 0, tools.Trajectory{Return: 0.25}},
		{"until its budget is used up", []llms.ContentChoice{up, up, up}, 2, tools.Trajectory{Return: 0.5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			agent := agentOf(t, plugin.AgentConfig{Model: &script{lines: test.lines}, Budget: plugin.Budget{Turns: test.turns}})
			task := tools.Task{ID: "counter/0/1", Prompt: []tools.Message{{Role: "user", Content: "Count to three."}}}
			got, err := tools.Rollout(t.Context(), &counter{}, task, agent)
			if err != nil {
				t.Fatal(err)
			}
			if last := got.Steps[len(got.Steps)-1]; !got.Success && test.turns == 0 && last.Message != "done" {
				t.Errorf("the last step is %+v", last)
			}
			test.want.Task, test.want.Steps, test.want.Observation = task, got.Steps, got.Observation
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAgentReportsADeadEnvironment(t *testing.T) {
	noLeak(t)
	agent := agentOf(t, plugin.AgentConfig{Model: &script{lines: []llms.ContentChoice{says("", `up{}`)}}})
	if _, err := tools.Rollout(t.Context(), &counter{dead: true}, tools.Task{}, agent); !errors.Is(err, errDead) {
		t.Errorf("got %v, want %v", err, errDead)
	}
}
