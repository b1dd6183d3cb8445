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
	"github.com/tmc/langchaingo/llms"

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
		{"an answer that breaks off", 200, []string{`{"message":{"content":"half"},"done":false}`}, llms.IsProviderUnavailableError, "breaks off"},
		{"no answer at all", 200, nil, llms.IsProviderUnavailableError, "breaks off"},
		{"half a line", 200, []string{`{"message":{"content":"ha`}, llms.IsProviderUnavailableError, "breaks off"},
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

func TestModelStopsWhenTheListenerDoes(t *testing.T) {
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
