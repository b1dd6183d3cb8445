package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/modelserver"
	"toolgym/internal/ollama"
)

// ModelConfig is the configuration of a model.
type ModelConfig struct {
	URL  string       // of the Ollama server; "" means http://127.0.0.1:11434
	Name string       // of the model
	HTTP *http.Client // its redirects are not followed; nil means a client of its own

	// MaxReply is the maximum size of a reply in bytes, after decompression; 0 means 4 MiB.
	MaxReply int64

	// NumCtx is the context in tokens, sent with every request: with
	// Ollama's own default the definitions of tools are the first to be truncated.
	// 0 means 8192.
	NumCtx int
	// Options are further options by Ollama's names, sent with every request. For
	// options that are set neither here nor in a call, the model's settings apply.
	Options   map[string]any
	KeepAlive time.Duration // how long the server keeps the model loaded; 0 means its default

	Callbacks callbacks.Handler // may be nil
}

// Validate returns an error for a configuration that cannot work.
func (c ModelConfig) Validate() error {
	if c.Name == "" {
		return refused("Name: missing; expected the name of a model")
	}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return refused("URL: invalid address %q; expected a URL such as http://127.0.0.1:11434", modelserver.Display(c.URL))
	}
	if c.NumCtx < 0 {
		return refused("NumCtx: got %d; expected at least 1, or 0 for the default", c.NumCtx)
	}
	if c.MaxReply < 0 {
		return refused("MaxReply: got %d; expected at least 1, or 0 for the default", c.MaxReply)
	}
	return nil
}

// Model is a language model of an Ollama server. Unlike langchaingo's own it
// supports tools, calls and their results, also in parallel, structured output,
// thinking and log-probabilities; it sends only options that are set, and
// returns an error for an incomplete reply. It has no state and may be used by
// several goroutines. Every error is an [*llms.Error] whose cause is the error
// of the context or of a streaming function if there is one.
type Model struct{ config ModelConfig }

var _ llms.Model = (*Model)(nil)

// NewModel makes a Model. It does not contact the server.
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

// GenerateContent answers a conversation with one choice. Calls are in its
// ToolCalls, each with an id. GenerationInfo has PromptTokens,
// CompletionTokens, TotalTokens, Model, LoadDuration, TotalDuration, and
// Logprobs if they were requested. With a streaming function the text arrives
// in pieces, in order, in the goroutine of the caller; calls are not streamed.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	m.config.Callbacks.HandleLLMGenerateContentStart(ctx, messages)
	response, err := m.generate(ctx, messages, applyOptions(options))
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
	if limit, ok := request.Options["num_ctx"].(int); ok && int(reply.PromptEvalCount) >= limit {
		return nil, llms.NewError(llms.ErrCodeTokenLimit, provider,
			fmt.Sprintf("the prompt fills the whole context of %d tokens, so the server truncated it; increase NumCtx", limit)).WithCause(errCut)
	}
	return response(reply, countCalls(conversation)), nil
}

// request combines the model's settings and the options of the call.
func (m *Model) request(conversation []llms.MessageContent, o llms.CallOptions) (ollama.ChatRequest, error) {
	extra, _ := o.Metadata[extraKey].(Extra)
	r := ollama.ChatRequest{Model: m.config.Name, Stream: o.StreamingFunc != nil || o.StreamingReasoningFunc != nil,
		Format: extra.Format, LogProbs: extra.Logprobs, TopLogProbs: extra.TopLogprobs, Think: think(o),
		KeepAlive: ollama.KeepAlive(m.config.KeepAlive)}
	if o.Model != "" {
		r.Model = o.Model
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
	messages, err := chatMessages(conversation)
	if err != nil {
		return r, err
	}
	for _, m := range messages {
		text, err := json.Marshal(m)
		if err != nil {
			return r, refused("encoding a message: %v", err)
		}
		r.Messages = append(r.Messages, text)
	}
	offered, err := toolsOf(o)
	if err != nil {
		return r, err
	}
	r.Tools, err = ollamaTools(offered)
	return r, err
}

// toolsOf returns the tools to send. Ollama lets the model choose and cannot
// force a choice.
func toolsOf(o llms.CallOptions) ([]llms.Tool, error) {
	if o.ToolChoice == "none" || o.FunctionCallBehavior == llms.FunctionCallBehaviorNone {
		return nil, nil
	}
	if o.ToolChoice != nil && o.ToolChoice != "auto" && o.ToolChoice != "" {
		return nil, unsupported("tool choice: Ollama does not support %v; expected auto or none", o.ToolChoice)
	}
	offered := o.Tools
	for i := range o.Functions {
		offered = append(slices.Clip(offered), llms.Tool{Type: "function", Function: &o.Functions[i]})
	}
	return offered, nil
}

// think returns the value of the request's think field; nil leaves it to the
// model.
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

// countCalls returns the number of calls in a conversation; new ids continue
// from there.
func countCalls(conversation []llms.MessageContent) int {
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

// Extra has options of Ollama for one request that langchaingo does not have.
// [With] makes a call option of it.
type Extra struct {
	Format      json.RawMessage // a JSON Schema of the reply
	Logprobs    bool            // log-probabilities of the generated tokens, in GenerationInfo["Logprobs"]
	TopLogprobs int             // number of alternatives per token, at most 20
	Options     map[string]any  // options by Ollama's names, such as num_ctx and min_p
}

// extraKey is where an Extra travels in llms.CallOptions.
const extraKey = "toolgym_ollama"

// With passes an [Extra] to a [Model]; other models ignore it. It is in the
// metadata of the options: put it after llms.WithMetadata, which replaces all
// metadata.
func With(extra Extra) llms.CallOption {
	return func(o *llms.CallOptions) {
		metadata := maps.Clone(o.Metadata)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata[extraKey] = extra
		o.Metadata = metadata
	}
}

// floatOptions are the options that are real numbers, by Ollama's names.
func floatOptions(o *llms.CallOptions) map[string]*float64 {
	return map[string]*float64{
		"temperature": &o.Temperature, "top_p": &o.TopP, "repeat_penalty": &o.RepetitionPenalty,
		"frequency_penalty": &o.FrequencyPenalty, "presence_penalty": &o.PresencePenalty,
	}
}

// intOptions are the options that are integers, by Ollama's names.
func intOptions(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"num_predict": &o.MaxTokens, "top_k": &o.TopK, "seed": &o.Seed}
}

// unsupportedCounts are the integer options that Ollama does not have.
func unsupportedCounts(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"MinLength": &o.MinLength, "MaxLength": &o.MaxLength, "N": &o.N, "CandidateCount": &o.CandidateCount}
}

// An llms.CallOption cannot leave a number unset, and 0 is a valid temperature and
// seed. So options are applied to numbers that no caller uses, and those that
// are unchanged afterwards are unset.
const unsetInt = math.MinInt

func unsetFloat() float64 { return math.Inf(-1) }

// markUnset replaces every number that is 0 by the mark of an unset one.
func markUnset(o *llms.CallOptions) {
	for _, f := range floatOptions(o) {
		if *f == 0 {
			*f = unsetFloat()
		}
	}
	for _, numbers := range []map[string]*int{intOptions(o), unsupportedCounts(o)} {
		for _, n := range numbers {
			if *n == 0 {
				*n = unsetInt
			}
		}
	}
}

// applyOptions applies the options in order.
func applyOptions(options []llms.CallOption) llms.CallOptions {
	var all llms.CallOptions
	markUnset(&all)
	for _, option := range options {
		least, most := all.MinLength, all.MaxLength
		all.MinLength, all.MaxLength = unsetInt, unsetInt
		option(&all)
		switch {
		case all.MinLength != unsetInt && all.MaxLength != unsetInt:
			markUnset(&all) // llms.WithOptions replaced every field: its zeros are unset options
		case all.MinLength == unsetInt && all.MaxLength == unsetInt:
			all.MinLength, all.MaxLength = least, most
		case all.MinLength == unsetInt:
			all.MinLength = least
		default:
			all.MaxLength = most
		}
	}
	return all
}

// ollamaOptions adds the options that are set to the base, by Ollama's names.
func ollamaOptions(base map[string]any, o llms.CallOptions) (map[string]any, error) {
	for name, n := range unsupportedCounts(&o) {
		one := *n == 1 && (name == "N" || name == "CandidateCount")
		if *n != unsetInt && !one {
			return nil, unsupported("option %s: not supported by Ollama, which returns one choice per request and limits tokens only", name)
		}
	}
	asked := maps.Clone(base)
	for name, f := range floatOptions(&o) {
		if *f != unsetFloat() {
			asked[name] = *f
		}
	}
	for name, n := range intOptions(&o) {
		if *n != unsetInt {
			asked[name] = *n
		}
	}
	if len(o.StopWords) > 0 {
		asked["stop"] = o.StopWords
	}
	return asked, nil
}

// provider names this model in its errors.
const provider = "ollama (toolgym)"

// errCut is the cause of the error for a prompt that the server truncated.
var errCut = errors.New("the prompt was truncated")

// refused is the error for an invalid request.
func refused(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeInvalidRequest, provider, fmt.Sprintf(format, args...))
}

// unsupported is the error for something that Ollama cannot do.
func unsupported(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeNotImplemented, provider, fmt.Sprintf(format, args...))
}

// connectionError is the error of a connection. If the context has ended, that
// is the cause.
func connectionError(ctx context.Context, doing string, err error) error {
	code := llms.ErrCodeProviderUnavailable
	if cause := ctx.Err(); cause != nil {
		err, code = cause, llms.ErrCodeCanceled
		if errors.Is(cause, context.DeadlineExceeded) {
			code = llms.ErrCodeTimeout
		}
	}
	return llms.NewError(code, provider, fmt.Sprintf("%s: %v", doing, err)).WithCause(err)
}

// statusError is the error of a response with an error status. The detail
// "status" has the number, "message" the text.
func statusError(status int, body []byte) error {
	message := explain(body)
	return llms.NewError(codeOf(status), provider, fmt.Sprintf("%d %s: %s", status, http.StatusText(status), message)).
		WithDetail("status", status).WithDetail("message", message)
}

// explain returns the message in {"error": message}, or the text.
func explain(body []byte) string {
	var failure struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(body, &failure); err != nil || failure.Error == "" {
		return clip(string(body), 500)
	}
	return clip(failure.Error, 4000)
}

func codeOf(status int) llms.ErrorCode {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llms.ErrCodeAuthentication
	case http.StatusNotFound:
		return llms.ErrCodeResourceNotFound
	case http.StatusTooManyRequests:
		return llms.ErrCodeRateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return llms.ErrCodeTimeout
	}
	if status >= http.StatusInternalServerError {
		return llms.ErrCodeProviderUnavailable
	}
	return llms.ErrCodeInvalidRequest
}
