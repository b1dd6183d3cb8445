package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/testing/llmtest"

	"toolgym/internal/ollamatest"
	"toolgym/plugin"
)

const sum = "Compute 4*2+7. Use the tools, then call answer with the result."

// ollamaModel is a model of the real Ollama, at temperature 0.
func ollamaModel(t *testing.T, server *ollamatest.Server, name string) *plugin.Model {
	t.Helper()
	model, err := plugin.NewModel(plugin.ModelConfig{URL: server.URL, Name: name, NumCtx: 2048, HTTP: client(t),
		Options: map[string]any{"temperature": 0, "num_predict": 64}})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// named are tools of which only the names matter, in the order that the tiny
// models know.
func named() []llms.Tool {
	var list []llms.Tool
	for _, name := range []string{"multiply", "add", "subtract", "divide", "store", "recall", "answer", "calculator"} {
		list = append(list, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: name, Parameters: map[string]any{"type": "object"}}})
	}
	return list
}

// TestModelBehaves is what langchaingo expects of a model, on the real server.
func TestModelBehaves(t *testing.T) {
	server := ollamatest.Start(t)
	noLeak(t)
	for name, check := range map[string]func(*testing.T, *plugin.Model){
		"langchaingo's own test": func(t *testing.T, m *plugin.Model) { llmtest.TestLLMWithOptions(t, m, llmtest.TestOptions{}) },
		"a single prompt":        checkCall,
		"a conversation":         checkConversation,
		"a schema":               checkFormat,
		"streaming in order":     checkStreaming,
		"seeds":                  checkSeeds,
		"cancelled before":       checkCancelledBefore,
		"cancelled in between":   checkCancelledBetween,
		"at a deadline":          checkDeadline,
		"many at once":           checkConcurrency,
	} {
		t.Run(name, func(t *testing.T) { check(t, ollamaModel(t, server, ollamatest.Tools)) })
	}
}

func checkCall(t *testing.T, m *plugin.Model) {
	whole, err := m.GenerateContent(t.Context(), human(sum))
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.Call(t.Context(), sum)
	if err != nil || text != whole.Choices[0].Content {
		t.Errorf("got %q, %v, want %q", text, err, whole.Choices[0].Content)
	}
	usage := whole.Choices[0].GenerationInfo
	if p, c := usage["PromptTokens"].(int), usage["CompletionTokens"].(int); p == 0 || c == 0 || usage["TotalTokens"] != p+c {
		t.Errorf("usage %v", usage)
	}
}

// checkConversation plays a task in which each answer needs the results of the
// calls before.
func checkConversation(t *testing.T, m *plugin.Model) {
	conversation, results := human(sum), map[string]string{"multiply": `{"result":8}`, "add": `{"result":15}`, "answer": `{"accepted":true}`}
	var made, ids []string
	for range 3 {
		response, err := m.GenerateContent(t.Context(), conversation, llms.WithTools(named()))
		if err != nil {
			t.Fatal(err)
		}
		said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		for _, call := range response.Choices[0].ToolCalls {
			made, ids = append(made, call.FunctionCall.Name+call.FunctionCall.Arguments), append(ids, call.ID)
			said.Parts = append(said.Parts, call)
			conversation = append(conversation, said, llms.MessageContent{Role: llms.ChatMessageTypeTool,
				Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: call.ID, Content: results[call.FunctionCall.Name]}}})
		}
	}
	if diff := cmp.Diff([]string{`multiply{"a":4,"b":2}`, `add{"a":8,"b":7}`, `answer{"value":15}`}, made); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"call_1", "call_2", "call_3"}, ids); diff != "" {
		t.Error(diff)
	}
}

func checkFormat(t *testing.T, m *plugin.Model) {
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"enum":["divide"]}},"required":["name"],"additionalProperties":false}`)
	response, err := m.GenerateContent(t.Context(), human(sum), plugin.With(plugin.Extra{Format: schema}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Name string }
	if err := json.Unmarshal([]byte(response.Choices[0].Content), &got); err != nil || got.Name != "divide" {
		t.Errorf("got %s, %v", response.Choices[0].Content, err)
	}
}

func checkStreaming(t *testing.T, m *plugin.Model) {
	whole, err := m.GenerateContent(t.Context(), human(sum))
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	streamed, err := m.GenerateContent(t.Context(), human(sum), llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
		pieces = append(pieces, string(piece))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pieces, ""); len(pieces) < 2 || got != whole.Choices[0].Content || got != streamed.Choices[0].Content {
		t.Errorf("%d pieces make %q, whole %q", len(pieces), got, whole.Choices[0].Content)
	}
}

func checkSeeds(t *testing.T, m *plugin.Model) {
	answers := map[string]int{}
	for seed := range 6 {
		options := []llms.CallOption{llms.WithTemperature(2), llms.WithTopP(1), llms.WithSeed(seed), llms.WithMaxTokens(24)}
		first, err := m.GenerateContent(t.Context(), human("Hello there"), options...)
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.GenerateContent(t.Context(), human("Hello there"), options...)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := first.Choices[0].Content, second.Choices[0].Content; a != b {
			t.Errorf("seed %d gives %q and %q", seed, a, b)
		}
		answers[first.Choices[0].Content]++
	}
	if len(answers) < 2 {
		t.Errorf("six seeds give one answer: %v", answers)
	}
}

func checkCancelledBefore(t *testing.T, m *plugin.Model) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.GenerateContent(ctx, human(sum)); !errors.Is(err, context.Canceled) || !llms.IsCanceledError(err) {
		t.Errorf("got %v", err)
	}
}

// endless asks for an answer of more than a thousand tokens, which takes
// seconds, and interrupts it at the first of them.
func endless(interrupt func()) []llms.CallOption {
	list := json.RawMessage(`{"type":"array","items":{"type":"integer"},"minItems":900}`)
	return []llms.CallOption{plugin.With(plugin.Extra{Format: list}), llms.WithMaxTokens(1800),
		llms.WithStreamingFunc(func(context.Context, []byte) error { interrupt(); return nil })}
}

// checkCancelledBetween is where Ollama's own client returns no error.
func checkCancelledBetween(t *testing.T, m *plugin.Model) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := m.GenerateContent(ctx, human(sum), endless(cancel)...)
	if !errors.Is(err, context.Canceled) || !llms.IsCanceledError(err) {
		t.Errorf("got %v", err)
	}
}

func checkDeadline(t *testing.T, m *plugin.Model) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := m.GenerateContent(ctx, human(sum)); !errors.Is(err, context.DeadlineExceeded) || !llms.IsTimeoutError(err) {
		t.Errorf("got %v", err)
	}
}

func checkConcurrency(t *testing.T, m *plugin.Model) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			response, err := m.GenerateContent(t.Context(), human(sum), llms.WithTools(named()))
			if err != nil {
				t.Error(err)
				return
			}
			if calls := response.Choices[0].ToolCalls; len(calls) != 1 || calls[0].FunctionCall.Arguments != `{"a":4,"b":2}` {
				t.Errorf("got %+v", calls)
			}
		})
	}
	all.Wait()
}

// TestModelWhoseServerDies kills the real server in the middle of an answer.
func TestModelWhoseServerDies(t *testing.T) {
	server := ollamatest.StartOwn(t)
	noLeak(t)
	model := ollamaModel(t, server, ollamatest.Tools)
	_, err := model.GenerateContent(t.Context(), human(sum), endless(server.Stop)...)
	if !llms.IsProviderUnavailableError(err) {
		t.Errorf("in mid-stream: got %v", err)
	}
	if _, err := model.GenerateContent(t.Context(), human(sum)); !llms.IsProviderUnavailableError(err) {
		t.Errorf("afterwards: got %v", err)
	}
}
