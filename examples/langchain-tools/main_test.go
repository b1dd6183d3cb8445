package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/ollamatest"
	"toolgym/plugin"
)

var update = flag.Bool("update", false, "write the golden output")

// golden compares with testdata/NAME.txt.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

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
	golden(t, "ollama", out.String())
}

func TestOffline(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, plugin.AgentConfig{Model: &scripted{}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "offline", out.String())
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
