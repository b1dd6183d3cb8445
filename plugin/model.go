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

	"github.com/ollama/ollama/api"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/modelserver"
	"toolgym/internal/ollama"
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
	if limit, ok := request.Options["num_ctx"].(int); ok && int(reply.PromptEvalCount) >= limit {
		return nil, llms.NewError(llms.ErrCodeTokenLimit, provider,
			fmt.Sprintf("the prompt fills the whole context of %d tokens, so that the server has cut it; raise NumCtx", limit)).WithCause(errCut)
	}
	return response(reply, asked(conversation)), nil
}

// request puts the model's settings and the call's options together.
func (m *Model) request(conversation []llms.MessageContent, o llms.CallOptions) (ollama.ChatRequest, error) {
	extra, _ := o.Metadata[extraKey].(Extra)
	r := ollama.ChatRequest{Model: m.config.Name, Stream: o.StreamingFunc != nil || o.StreamingReasoningFunc != nil,
		Format: extra.Format, LogProbs: extra.Logprobs, TopLogProbs: extra.TopLogprobs, Think: think(o)}
	if o.Model != "" {
		r.Model = o.Model
	}
	if m.config.KeepAlive != 0 {
		r.KeepAlive = &api.Duration{Duration: m.config.KeepAlive}
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

// Extra is what Ollama can do for one request and langchaingo has no option
// for. [With] makes a call option of it.
type Extra struct {
	Format      json.RawMessage // a JSON Schema that constrains the answer
	Logprobs    bool            // log-probabilities of the generated tokens, in GenerationInfo["Logprobs"]
	TopLogprobs int             // and of so many alternatives for each, at most 20
	Options     map[string]any  // options by Ollama's names, such as num_ctx and min_p
}

// extraKey is where an Extra travels in llms.CallOptions.
const extraKey = "toolgym_ollama"

// With hands an [Extra] to a [Model]. Other models do not look at it. It stands
// in the options' metadata: put it after llms.WithMetadata, which replaces all.
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

// fractions are the options that are no whole numbers, by Ollama's names.
func fractions(o *llms.CallOptions) map[string]*float64 {
	return map[string]*float64{
		"temperature": &o.Temperature, "top_p": &o.TopP, "repeat_penalty": &o.RepetitionPenalty,
		"frequency_penalty": &o.FrequencyPenalty, "presence_penalty": &o.PresencePenalty,
	}
}

// counts are the options that are whole numbers, by Ollama's names.
func counts(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"num_predict": &o.MaxTokens, "top_k": &o.TopK, "seed": &o.Seed}
}

// foreign are the whole numbers that Ollama has no option for.
func foreign(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"MinLength": &o.MinLength, "MaxLength": &o.MaxLength, "N": &o.N, "CandidateCount": &o.CandidateCount}
}

// An llms.CallOption can not say "unset", and zero is a temperature and a seed
// like any other. So the options are applied to numbers that nobody asks for,
// and what still has one of these afterwards was left alone.
const noCount = math.MinInt

func noFraction() float64 { return math.Inf(-1) }

// empty turns every number that is equal to zero into an unset one.
func empty(o *llms.CallOptions) {
	for _, f := range fractions(o) {
		if *f == 0 {
			*f = noFraction()
		}
	}
	for _, numbers := range []map[string]*int{counts(o), foreign(o)} {
		for _, n := range numbers {
			if *n == 0 {
				*n = noCount
			}
		}
	}
}

// applied applies the options in order.
func applied(options []llms.CallOption) llms.CallOptions {
	var all llms.CallOptions
	empty(&all)
	for _, option := range options {
		least, most := all.MinLength, all.MaxLength
		all.MinLength, all.MaxLength = noCount, noCount
		option(&all)
		switch {
		case all.MinLength != noCount && all.MaxLength != noCount:
			empty(&all) // llms.WithOptions replaced every field: zeros were not asked for
		case all.MinLength == noCount && all.MaxLength == noCount:
			all.MinLength, all.MaxLength = least, most
		case all.MinLength == noCount:
			all.MinLength = least
		default:
			all.MaxLength = most
		}
	}
	return all
}

// ollamaOptions are those that were asked for, by Ollama's names, over the
// base.
func ollamaOptions(base map[string]any, o llms.CallOptions) (map[string]any, error) {
	for name, n := range foreign(&o) {
		one := *n == 1 && (name == "N" || name == "CandidateCount")
		if *n != noCount && !one {
			return nil, unsupported("Ollama has no option %s: it gives one answer a request, bounded in tokens", name)
		}
	}
	asked := maps.Clone(base)
	for name, f := range fractions(&o) {
		if *f != noFraction() {
			asked[name] = *f
		}
	}
	for name, n := range counts(&o) {
		if *n != noCount {
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

// errCut is the cause of the error for a prompt that its server has cut.
var errCut = errors.New("the prompt was cut")

// refused is the error for a request that can not be carried out as it stands.
func refused(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeInvalidRequest, provider, fmt.Sprintf(format, args...))
}

// unsupported is the error for what Ollama can not do.
func unsupported(format string, args ...any) error {
	return llms.NewError(llms.ErrCodeNotImplemented, provider, fmt.Sprintf(format, args...))
}

// broken is the error of a connection. A context that has ended is its true
// cause, whatever the connection says.
func broken(ctx context.Context, doing string, err error) error {
	code := llms.ErrCodeProviderUnavailable
	if cause := ctx.Err(); cause != nil {
		err, code = cause, llms.ErrCodeCanceled
		if errors.Is(cause, context.DeadlineExceeded) {
			code = llms.ErrCodeTimeout
		}
	}
	return llms.NewError(code, provider, fmt.Sprintf("%s: %v", doing, err)).WithCause(err)
}

// answered is the error of a server that answered with a status of failure. The
// detail "status" keeps the number.
func answered(status int, body []byte) error {
	message := explain(body)
	return llms.NewError(codeOf(status), provider, fmt.Sprintf("%d %s: %s", status, http.StatusText(status), message)).
		WithDetail("status", status).WithDetail("message", message)
}

// explain takes the message out of {"error": message}.
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
