package main

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/internal/ollamatest"
	"toolgym/internal/testkit"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
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

// serving is a server of toolgym's own.
func serving(t *testing.T) *httptest.Server {
	t.Helper()
	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec()}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return listening
}

// TestOverREST lets the same agent play against a server, as the manual says.
func TestOverREST(t *testing.T) {
	listening := serving(t)
	c, err := client.New(client.Config{URL: listening.URL, HTTP: listening.Client()})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: &scripted{answer: `{"value":37}`}})
	if err != nil {
		t.Fatal(err)
	}
	played, err := c.Play(t.Context(), "arithmetic/1/7", agent)
	if err != nil || !played.Success || len(played.Steps) != 1 {
		t.Errorf("%d steps, success %v, %v", len(played.Steps), played.Success, err)
	}
}

// TestOverMCP: a session is an episode, and ends with it.
func TestOverMCP(t *testing.T) {
	listening := serving(t)
	session, err := plugin.DialMCP(t.Context(), listening.URL+"/mcp?task_id=arithmetic/1/7", listening.Client())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	recorder := &plugin.Recorder{}
	offered, err := plugin.EpisodeTools(recorder.Watch(session))
	if err != nil {
		t.Fatal(err)
	}
	model := &scripted{answer: `{"value":37}`}
	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: model, Tools: offered, Callbacks: recorder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Run(t.Context(), session.Instructions()); err != nil {
		t.Fatal(err)
	}
	played := recorder.Trajectory()
	if played.Return != 1 || !played.Terminated || len(played.Steps) != 1 || model.asked != 1 {
		t.Errorf("%+v after %d questions", played, model.asked)
	}
}

func TestOffline(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, plugin.AgentConfig{Model: &scripted{answer: `{"value":42}`}}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/offline.txt", out.String(), *update)
}

// scripted is a model that guesses an answer, whatever it is asked, then says
// that it is done.
type scripted struct {
	asked  int
	answer string
}

func (s *scripted) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

func (s *scripted) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{Content: "That was it."}
	if s.asked++; s.asked < 3 {
		call := &llms.FunctionCall{Name: "answer", Arguments: s.answer}
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "1", Type: "function", FunctionCall: call}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}
