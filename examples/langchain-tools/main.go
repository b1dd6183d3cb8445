package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http/httptest"
	"os"

	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/plugin"
	"toolgym/tools"
)

func main() {
	url, name := flag.String("ollama", "http://127.0.0.1:11434", "the Ollama server"), flag.String("model", "qwen3", "a model that calls tools")
	flag.Parse()
	model, err := plugin.NewModel(plugin.ModelConfig{URL: *url, Name: *name})
	if err == nil {
		err = run(context.Background(), os.Stdout, plugin.AgentConfig{Model: model})
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, config plugin.AgentConfig) error {
	calculator, err := plugin.FromLangchain(lctools.Calculator{}, plugin.ToolLimits{})
	if err != nil {
		return err
	}
	set := tools.Set{calculator}
	toolbox := tools.Spec{Name: "toolbox", Rules: []string{tools.Sound}, Levels: []string{"0"},
		Tools: func(string, string) tools.Set { return set }, New: func() tools.Env { return nil },
		NewTask: func(string, string, uint64) (t tools.Task, err error) { return t, errors.ErrUnsupported }}
	server, err := api.New(api.Config{Specs: tools.Specs{toolbox}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	listening := httptest.NewServer(server)
	defer listening.Close()
	c, err := client.New(client.Config{URL: listening.URL, HTTP: listening.Client()})
	if err != nil {
		return err
	}
	wanted := &match.Expected{Calls: []match.Call{{Name: "calculator", Arguments: []byte(`{"input":"2*(3+4)"}`)}}}
	recorder := &plugin.Recorder{Tools: set, Expected: wanted}
	config.Callbacks, config.Budget.Turns = recorder, 4
	if config.Tools, err = plugin.Tools(plugin.Served(c, set)); err != nil {
		return err
	}
	agent, err := plugin.NewAgent(config)
	if err != nil {
		return err
	}
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		return err
	}
	if _, err := agent.Run(ctx, "What is 2*(3+4)? Use the calculator."); err != nil && !errors.Is(err, plugin.ErrBudget) {
		return err
	}
	line, err := recorder.Line("calculator")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", line)
	_, err = scorer.Stream(ctx, bytes.NewReader(line), out, grpo.StreamOptions{}) // as "toolgym score" does
	return err
}
