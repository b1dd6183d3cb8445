package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// replay is a server that answers with what a server once did. It keeps the
// last request's body.
func replay(t *testing.T, status int, lines ...string) (*plugin.Model, *string) {
	t.Helper()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body = string(text)
		w.WriteHeader(status)
		for _, line := range lines {
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	model, err := plugin.NewModel(plugin.ModelConfig{URL: server.URL, Name: "m", HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	return model, &body
}

func human(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

func TestModelReadsAnAnswer(t *testing.T) {
	noLeak(t)
	model, _ := replay(t, http.StatusOK,
		`{"model":"m","message":{"role":"assistant","thinking":"Hm","content":""},"done":false}`,
		`{"model":"m","message":{"role":"assistant","content":"Let ","tool_calls":[{"function":{"name":"add","arguments":{"a":9007199254740993,"b":1.10}}}]},"done":false,"logprobs":[{"token":"Let","logprob":-0.5}]}`,
		`{"model":"m","message":{"role":"assistant","content":"me.","tool_calls":[{"id":"own","function":{"name":"ping","arguments":null}}]},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":5}`)
	var pieces []string
	response, err := model.GenerateContent(context.Background(), human("go"),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, text []byte) error {
			pieces = append(pieces, string(thought)+"|"+string(text))
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Hm|", "|Let ", "|me."}, pieces); diff != "" {
		t.Error(diff)
	}
	choice := response.Choices[0]
	want := []llms.ToolCall{
		{ID: "call_1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "add", Arguments: `{"a":9007199254740993,"b":1.10}`}},
		{ID: "own", Type: "function", FunctionCall: &llms.FunctionCall{Name: "ping", Arguments: `{}`}},
	}
	if diff := cmp.Diff(want, choice.ToolCalls); diff != "" {
		t.Error(diff)
	}
	got := fmt.Sprint(choice.Content, "/", choice.ReasoningContent, "/", choice.StopReason, "/", choice.GenerationInfo["PromptTokens"],
		"/", choice.GenerationInfo["CompletionTokens"], "/", choice.GenerationInfo["TotalTokens"], "/", choice.GenerationInfo["Logprobs"] != nil)
	if want := "Let me./Hm/stop/7/5/12/true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestModelFailures(t *testing.T) {
	tests := []struct {
		name   string
		status int
		lines  []string
		is     func(error) bool
		want   string
	}{
		{"an answer that breaks off", 200, []string{`{"message":{"content":"half"},"done":false}`}, llms.IsProviderUnavailableError, "incomplete reply"},
		{"no answer at all", 200, nil, llms.IsProviderUnavailableError, "incomplete reply"},
		{"half a line", 200, []string{`{"message":{"content":"ha`}, llms.IsProviderUnavailableError, "incomplete reply"},
		{"a page of a proxy", 200, []string{`<html>`}, llms.IsProviderUnavailableError, "invalid character"},
		{"an error in mid-stream", 200, []string{`{"message":{"content":"half"},"done":false}`, `{"error":"out of memory"}`}, llms.IsProviderUnavailableError, "out of memory"},
		{"no such model", 404, []string{`{"error":"model \"m\" not found"}`}, notFound, `model "m" not found`},
		{"a model without tools", 400, []string{`{"error":"m does not support tools"}`}, llms.IsInvalidRequestError, "does not support tools"},
		{"too many requests", 429, []string{`busy`}, llms.IsRateLimitError, "busy"},
		{"no token", 401, []string{`{}`}, llms.IsAuthenticationError, "401"},
		{"a full server", 503, []string{`{"error":"server busy"}`}, llms.IsProviderUnavailableError, "server busy"},
		{"a prompt that was cut", 200, []string{`{"message":{"content":"x"},"done":true,"prompt_eval_count":8192}`}, llms.IsTokenLimitError, "8192 tokens"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			model, _ := replay(t, test.status, test.lines...)
			_, err := model.GenerateContent(context.Background(), human("go"))
			if !test.is(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want …%s…", err, test.want)
			}
		})
	}
}

func TestModelStreamingFunctionFails(t *testing.T) {
	noLeak(t)
	model, _ := replay(t, 200, `{"message":{"content":"one"},"done":false}`, `{"message":{"content":"two"},"done":true}`)
	enough := errors.New("enough")
	heard := 0
	_, err := model.GenerateContent(context.Background(), human("go"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		heard++
		return enough
	}))
	if !errors.Is(err, enough) || heard != 1 {
		t.Errorf("heard %d pieces, got %v", heard, err)
	}
}

func TestModelWritesAConversation(t *testing.T) {
	noLeak(t)
	model, body := replay(t, 200, `{"message":{"content":"x"},"done":true}`)
	_, err := model.GenerateContent(context.Background(), []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "Be", "brief."),
		llms.TextParts(llms.ChatMessageTypeHuman, "go"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			llms.ToolCall{ID: "1", FunctionCall: &llms.FunctionCall{Name: "add", Arguments: `{"b":2,"a":12345678901234567890}`}},
			llms.ToolCall{ID: "2", FunctionCall: &llms.FunctionCall{Name: "ping"}}}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: "1", Content: "3"}, llms.ToolCallResponse{ToolCallID: "2", Name: "ping", Content: "1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `"messages":[{"role":"system","content":"Be\nbrief."},{"role":"user","content":"go"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"index":0,"name":"add","arguments":{"b":2,"a":12345678901234567890}}},` +
		`{"id":"2","function":{"index":1,"name":"ping","arguments":{}}}]},` +
		`{"role":"tool","content":"3","tool_name":"add","tool_call_id":"1"},{"role":"tool","content":"1","tool_name":"ping","tool_call_id":"2"}]`
	if !strings.Contains(*body, want) {
		t.Errorf("got  %s\nwant …%s…", *body, want)
	}
}

func TestModelRefusesMessages(t *testing.T) {
	call := func(c llms.ToolCall) []llms.MessageContent {
		return []llms.MessageContent{{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{c}}}
	}
	tests := []struct {
		name     string
		messages []llms.MessageContent
		is       func(error) bool
	}{
		{"an image", []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.BinaryPart("image/png", nil)}}}, llms.IsNotImplementedError},
		{"an image's address", []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLPart("http://x/y.png")}}}, llms.IsNotImplementedError},
		{"an unknown role", []llms.MessageContent{{Role: "oracle"}}, llms.IsInvalidRequestError},
		{"a call of nothing", call(llms.ToolCall{ID: "1"}), llms.IsInvalidRequestError},
		{"arguments that are no object", call(llms.ToolCall{FunctionCall: &llms.FunctionCall{Name: "f", Arguments: "2+2"}}), llms.IsInvalidRequestError},
	}
	model, err := plugin.NewModel(plugin.ModelConfig{Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := model.GenerateContent(context.Background(), test.messages); !test.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNewModelRefuses(t *testing.T) {
	for name, config := range map[string]plugin.ModelConfig{
		"no name": {}, "no address": {Name: "m", URL: "localhost:11434"}, "a negative context": {Name: "m", NumCtx: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := plugin.NewModel(config); !llms.IsInvalidRequestError(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func notFound(err error) bool {
	e := (*llms.Error)(nil)
	return errors.As(err, &e) && e.Code == llms.ErrCodeResourceNotFound
}

// A reply is read up to its limit, in one line or in many, and of an error too.
func TestModelBoundsAReply(t *testing.T) {
	piece := `{"message":{"content":"` + strings.Repeat("x", 64<<10) + `"},"done":false}`
	many := make([]string, 80)
	for i := range many {
		many[i] = piece
	}
	for name, test := range map[string]struct {
		status int
		lines  []string
		want   string
	}{
		"one line":   {200, []string{`{"message":{"content":"` + strings.Repeat("x", 5<<20) + `"},"done":true}`}, "the reply is too long: over 4194304 bytes"},
		"many lines": {200, many, "the reply is too long: over 4194304 bytes"},
		"an error":   {500, []string{strings.Repeat("x", 5<<20)}, "500 Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			model, _ := replay(t, test.status, test.lines...)
			_, err := model.GenerateContent(context.Background(), human("go"))
			if !llms.IsProviderUnavailableError(err) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 8<<10 {
				t.Errorf("got %.200v, want …%s…", err, test.want)
			}
		})
	}
}

func TestModelFollowsNoRedirect(t *testing.T) {
	noLeak(t)
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	model, err := plugin.NewModel(plugin.ModelConfig{URL: strings.Replace(server.URL, "//", "//user:secret@", 1), Name: "m", HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = model.GenerateContent(context.Background(), human("go"))
	if asked > 0 || !llms.IsProviderUnavailableError(err) || !strings.Contains(err.Error(), "redirects to "+other.URL) || strings.Contains(err.Error(), "secret") {
		t.Errorf("asked %d times, error %v", asked, err)
	}
	server.Close()
	if _, err = model.GenerateContent(context.Background(), human("go")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("of a server that is gone: %v", err)
	}
	if _, err := plugin.NewModel(plugin.ModelConfig{Name: "m", MaxReply: -1}); err == nil {
		t.Errorf("a negative limit: %v", err)
	}
}

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

// TestModelServerDies kills the real server in the middle of an answer.
func TestModelServerDies(t *testing.T) {
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
