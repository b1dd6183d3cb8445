package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	ollama "github.com/ollama/ollama/api"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/modelserver"
)

// ModelConfig says which model answers, and how.
type ModelConfig struct {
	URL  string       // of the Ollama server; "" means http://127.0.0.1:11434
	Name string       // of the model
	HTTP *http.Client // its redirects are not followed; nil means a client of its own

	// MaxReply is the most bytes of one reply, after decompression; 0 means 4 MiB.
	MaxReply int64

	// NumCtx is the context in tokens, sent with every request: Ollama's own
	// default cuts the tools' definitions first. 0 means 8192.
	NumCtx int
	// Options are further ones by Ollama's names, sent with every request. What
	// stands neither here nor in a call's options is left to the model's own
	// settings.
	Options   map[string]any
	KeepAlive time.Duration // how long the server keeps the model; 0 leaves it to the server

	Callbacks callbacks.Handler // may be nil
}

// Validate reports what can not work.
func (c ModelConfig) Validate() error {
	if c.Name == "" {
		return refused("no model is named")
	}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return refused("%q is no address of a server, such as http://127.0.0.1:11434", modelserver.Display(c.URL))
	}
	if c.NumCtx < 0 {
		return refused("a context of %d tokens", c.NumCtx)
	}
	if c.MaxReply < 0 {
		return refused("a limit of %d bytes of one reply; expected at least 1, or 0 for the default", c.MaxReply)
	}
	return nil
}

// Model is a language model of an Ollama server, with what langchaingo's own
// leaves out: tools, calls and their results, in parallel too; options that are
// left alone when unset; answers constrained by a schema, thinking,
// log-probabilities; an error when an answer breaks off. It holds no state and
// may be used by many goroutines. Every error is an [*llms.Error], with a
// context's error as its cause where there is one, or that of a streaming
// function.
type Model struct{ config ModelConfig }

var _ llms.Model = (*Model)(nil)

// NewModel makes a Model. It does not ask the server.
func NewModel(config ModelConfig) (*Model, error) {
	if config.URL == "" {
		config.URL = "http://127.0.0.1:11434"
	}
	if config.NumCtx == 0 {
		config.NumCtx = 8192
	}
	if config.MaxReply == 0 {
		config.MaxReply = modelserver.MaxReply
	}
	config.HTTP = modelserver.New(config.HTTP)
	if config.Callbacks == nil {
		config.Callbacks = callbacks.SimpleHandler{}
	}
	return &Model{config}, config.Validate()
}

// Call answers a single prompt with text.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent answers a conversation with one choice. Calls stand in its
// ToolCalls, each with an id; GenerationInfo has PromptTokens,
// CompletionTokens and TotalTokens, further Model, LoadDuration and
// TotalDuration, and Logprobs where they were asked for. With a streaming
// function the text comes in pieces, in order, in the caller's own goroutine;
// calls are not streamed.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	m.config.Callbacks.HandleLLMGenerateContentStart(ctx, messages)
	response, err := m.generate(ctx, messages, applied(options))
	if err != nil {
		m.config.Callbacks.HandleLLMError(ctx, err)
		return nil, err
	}
	m.config.Callbacks.HandleLLMGenerateContentEnd(ctx, response)
	return response, nil
}

func (m *Model) generate(ctx context.Context, conversation []llms.MessageContent, options llms.CallOptions) (*llms.ContentResponse, error) {
	request, err := m.request(conversation, options)
	if err != nil {
		return nil, err
	}
	reply, err := m.chat(ctx, request, listener(options))
	if err != nil {
		return nil, err
	}
	if limit, ok := request.Options["num_ctx"].(int); ok && reply.PromptEvalCount >= limit {
		return nil, llms.NewError(llms.ErrCodeTokenLimit, provider,
			fmt.Sprintf("the prompt fills the whole context of %d tokens, so that the server has cut it; raise NumCtx", limit)).WithCause(errCut)
	}
	return response(reply, asked(conversation)), nil
}

// request puts the model's settings and the call's options together.
func (m *Model) request(conversation []llms.MessageContent, o llms.CallOptions) (chatRequest, error) {
	extra, _ := o.Metadata[extraKey].(Extra)
	r := chatRequest{Model: m.config.Name, Stream: o.StreamingFunc != nil || o.StreamingReasoningFunc != nil,
		Format: extra.Format, Logprobs: extra.Logprobs, TopLogprobs: extra.TopLogprobs, Think: think(o)}
	if o.Model != "" {
		r.Model = o.Model
	}
	if m.config.KeepAlive != 0 {
		r.KeepAlive = &ollama.Duration{Duration: m.config.KeepAlive}
	}
	if len(r.Format) == 0 && (o.JSONMode || o.ResponseMIMEType == "application/json") {
		r.Format = json.RawMessage(`"json"`)
	}
	base := map[string]any{"num_ctx": m.config.NumCtx}
	for _, options := range []map[string]any{m.config.Options, extra.Options} {
		maps.Copy(base, options)
	}
	var err error
	if r.Options, err = ollamaOptions(base, o); err != nil {
		return r, err
	}
	if r.Messages, err = chatMessages(conversation); err != nil {
		return r, err
	}
	offered, err := toolsOf(o)
	if err != nil {
		return r, err
	}
	r.Tools, err = carryTools(offered)
	return r, err
}

// toolsOf are the tools to show. Ollama lets a model choose among them and can
// not force a choice.
func toolsOf(o llms.CallOptions) ([]llms.Tool, error) {
	if o.ToolChoice == "none" || o.FunctionCallBehavior == llms.FunctionCallBehaviorNone {
		return nil, nil
	}
	if o.ToolChoice != nil && o.ToolChoice != "auto" && o.ToolChoice != "" {
		return nil, unsupported("Ollama can not force the tool choice %v; it knows auto and none", o.ToolChoice)
	}
	offered := o.Tools
	for i := range o.Functions {
		offered = append(slices.Clip(offered), llms.Tool{Type: "function", Function: &o.Functions[i]})
	}
	return offered, nil
}

// think is the value of the request's think field; nil leaves it to the model.
func think(o llms.CallOptions) any {
	config := llms.GetThinkingConfig(&o)
	if config == nil || config.Mode == "" {
		return nil
	}
	switch config.Mode {
	case llms.ThinkingModeNone:
		return false
	case llms.ThinkingModeAuto:
		return true
	}
	return string(config.Mode)
}

// asked counts the calls in a conversation, so that new ids are new.
func asked(conversation []llms.MessageContent) int {
	n := 0
	for _, message := range conversation {
		for _, part := range message.Parts {
			if _, ok := part.(llms.ToolCall); ok {
				n++
			}
		}
	}
	return n
}
