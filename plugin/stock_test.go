package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	lctools "github.com/tmc/langchaingo/tools"
)

// The tests of this file prove what README.md says of langchaingo v0.1.14. When
// one fails after an update, langchaingo has mended something, and this package
// may become simpler.

// stockModel is langchaingo's Ollama model on a server that answers with the
// lines; it also returns where the last request is kept.
func stockModel(t *testing.T, lines ...string) (*ollama.LLM, *string) {
	t.Helper()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body = string(text)
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}))
	t.Cleanup(server.Close)
	model, err := ollama.New(ollama.WithServerURL(server.URL), ollama.WithModel("m"), ollama.WithHTTPClient(client(t)))
	if err != nil {
		t.Fatal(err)
	}
	return model, &body
}

func TestStockModelDropsTools(t *testing.T) {
	model, body := stockModel(t, `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{}}}]},"done":true}`)
	response, err := model.GenerateContent(t.Context(), human("go"), llms.WithTools(named()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(*body, `"tools"`) || len(response.Choices[0].ToolCalls) > 0 {
		t.Errorf("sent %s, got %+v", *body, response.Choices[0])
	}
	result := llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{Content: "3"}}}
	if _, err := model.GenerateContent(t.Context(), []llms.MessageContent{result}); err == nil {
		t.Error("it takes tool results")
	}
}

func TestStockModelSendsWhatNobodySet(t *testing.T) {
	model, body := stockModel(t, `{"message":{"role":"assistant","content":"x"},"done":true}`)
	if _, err := model.GenerateContent(t.Context(), human("go")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(*body, `"temperature":0`) {
		t.Errorf("sent %s", *body)
	}
}

func TestStockModelTakesACutAnswerForAWholeOne(t *testing.T) {
	model, _ := stockModel(t, `{"message":{"role":"assistant","content":"half"},"done":false}`)
	response, err := model.GenerateContent(t.Context(), human("go"), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil || response.Choices[0].Content != "" {
		t.Errorf("got %+v, %v", response, err)
	}
}

func TestStockAgentSplitsParallelCalls(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("Both.", `add{"a":1,"b":2}`, `ping{}`)}}
	agent := agents.NewOpenAIFunctionsAgent(model, listed(t, workshop()))
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"system You are a helpful AI assistant.", "human go",
		`ai →add{"a":1,"b":2}`, `tool ={"result":3}`, `ai →ping{}`, `tool ={"result":1}`}
	if diff := cmp.Diff(want, transcript(model.asked[1])); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(model.with[0].Functions[0].Parameters); !strings.Contains(got, "__arg1") {
		t.Errorf("declared %s", got)
	}
}

func TestStockExecutorEndsAtAToolsError(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `wild{"__arg1":"x"}`)}}
	var e ear
	agent := agents.NewOpenAIFunctionsAgent(model, []lctools.Tool{wild{"wild", fails}})
	_, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithCallbacksHandler(&e)), "go")
	if err == nil || errors.Is(err, agents.ErrNotFinished) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"start", "action wild", "error no network"}, e.heard); diff != "" {
		t.Error(diff)
	}
}
