package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"toolgym/grpo"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func main() {
	url := flag.String("ollama", "http://127.0.0.1:11434", "the Ollama server")
	name := flag.String("model", "qwen3", "a model that calls tools")
	flag.Parse()
	model, err := plugin.NewModel(plugin.ModelConfig{URL: *url, Name: *name, Options: map[string]any{"temperature": 0}})
	if err == nil {
		err = run(context.Background(), os.Stdout, plugin.AgentConfig{Model: model})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run plays one task of each environment.
func run(ctx context.Context, out io.Writer, config plugin.AgentConfig) error {
	envs := tools.Specs{arithmetic.Spec(), gridworld.Spec()}
	scorer, err := grpo.NewScorer(envs, grpo.DefaultRubric())
	if err != nil {
		return err
	}
	for _, id := range []string{"arithmetic/1/7", "gridworld/0/7"} {
		spec, task, err := envs.Task(id)
		if err != nil {
			return err
		}
		recorder := &plugin.Recorder{Task: task}
		config.Callbacks = recorder
		agent, err := plugin.NewAgent(config)
		if err != nil {
			return err
		}
		played, err := tools.Rollout(ctx, spec.New(), task, agent)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, task.Prompt[0].Content)
		for _, step := range played.Steps {
			fmt.Fprintf(out, "  %s%s %s%s\n", step.Call.Name, step.Call.Arguments, step.Result.Content, step.Message)
		}
		group, err := recorder.Group(id)
		if err != nil {
			return err
		}
		graded, err := scorer.Score(ctx, grpo.Request{Groups: []grpo.Group{group}})
		if err != nil {
			return err
		}
		score := graded.Groups[0].Completions[0]
		if score.Failure != nil {
			return fmt.Errorf("%s cannot be graded: %s", id, score.Failure.Reason)
		}
		fmt.Fprintf(out, "  success %v, reward %.2f\n", score.Success, *score.Reward)
	}
	return nil
}
