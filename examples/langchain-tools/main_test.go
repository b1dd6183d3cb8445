package main

import (
	"context"
	"flag"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/ollamatest"
	"toolgym/internal/testkit"
	"toolgym/plugin"
)

var update = flag.Bool("update", false, "write the golden output")

func TestWithOllama(t *testing.T) {
	server := ollamatest.Start(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := plugin.NewModel(plugin.ModelConfig{URL: server.URL, Name: ollamatest.Tools, NumCtx: 2048,
		HTTP: &http.Client{Transport: transport}, Options: map[string]any{"temperature": 0}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), &out, plugin.AgentConfig{Model: model}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/ollama.txt", out.String(), *update)
}

func TestOffline(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, plugin.AgentConfig{Model: &scripted{}}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/offline.txt", out.String(), *update)
}

// scripted is a model that calls the calculator once, then answers.
type scripted struct{ asked int }

func (s *scripted) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

func (s *scripted) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{Content: "It is 14."}
	if s.asked++; s.asked == 1 {
		call := &llms.FunctionCall{Name: "calculator", Arguments: `{"input":"2*(3+4)"}`}
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "1", Type: "function", FunctionCall: call}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}
