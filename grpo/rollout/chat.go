package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ollama/ollama/api"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// Chat asks an Ollama server at /api/chat.
type Chat struct{ Config }

// Run plays the task; see the manual.
func (c Chat) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (Transcript, error) {
	d := &dialogue{config: c.Config, Transcript: Transcript{Family: parse.Structured}}
	d.open = func(task tools.Task, set tools.Set) (route, error) { return c.route(task, set, seed) }
	return d.run(ctx, env, task)
}

// chatRequest is api.ChatRequest with the messages as they came: decoding and
// encoding them again would round numbers and lose fields.
type chatRequest struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    api.Tools         `json:"tools,omitempty"`
	Format   json.RawMessage   `json:"format,omitempty"`
	Think    *bool             `json:"think,omitempty"`
	LogProbs bool              `json:"logprobs,omitempty"`
	Options  map[string]any    `json:"options"`
	Stream   bool              `json:"stream"`   // never, when grading
	Truncate bool              `json:"truncate"` // servers that know it then refuse what does not fit
	Shift    bool              `json:"shift"`
}

// chatRoute is the conversation about one task.
type chatRoute struct {
	chat    Chat
	request chatRequest
	prompt  []json.RawMessage
}

func (c Chat) route(task tools.Task, set tools.Set, seed int) (*chatRoute, error) {
	converted, err := ollamaTools(set)
	if err != nil {
		return nil, err
	}
	prompt, err := messages(task)
	if err != nil {
		return nil, err
	}
	request := chatRequest{Model: c.Model, Tools: converted, Format: c.Format, Think: c.Think, LogProbs: c.LogProbs, Options: c.options(seed)}
	return &chatRoute{chat: c, request: request, prompt: prompt}, nil
}

// messages are a task's prompt as JSON.
func messages(task tools.Task) ([]json.RawMessage, error) {
	list := make([]json.RawMessage, len(task.Prompt))
	for i, message := range task.Prompt {
		text, err := json.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("encoding a prompt: %w", err)
		}
		list[i] = text
	}
	return list, nil
}

func (r *chatRoute) ask(ctx context.Context, conversation []json.RawMessage) (reply, error) {
	r.request.Messages = slices.Concat(r.prompt, conversation)
	got, err := r.chat.post(ctx, "/api/chat", r.request, "")
	if err != nil || got.Error != "" {
		return got, err
	}
	return got, got.readChat()
}

// answered is what Ollama says beside the message, on either of its routes.
type answered struct {
	Message         json.RawMessage `json:"message"`
	Response        string          `json:"response"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount count           `json:"prompt_eval_count"`
	EvalCount       count           `json:"eval_count"`
	LogProbs        []api.Logprob   `json:"logprobs"`
}

// A count is a number of tokens. A server that sends another number is not
// believed.
type count int

// UnmarshalJSON refuses what is not a whole number between 0 and 2^31 - 1.
func (c *count) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("got %.40s tokens; expected a whole number between 0 and %d", text, math.MaxInt32)
	}
	*c = count(n)
	return nil
}

// decode reads a reply into a value. A reply that ends early is [errCut], one
// that is not of the server's form is [errReply].
func (r *reply) decode(into any) error {
	err := json.Unmarshal(r.Body, into)
	switch syntax, ok := errors.AsType[*json.SyntaxError](err); {
	case err == nil:
		return nil
	case len(r.Body) == 0 || ok && syntax.Offset >= int64(len(r.Body)) && !strings.Contains(syntax.Error(), "max depth"):
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return fmt.Errorf("%w: %w", errReply, err)
}

// readOllama reads an answer; done is required, since a connection cut between
// two writes looks like a shorter answer.
func (r *reply) readOllama() (answered, error) {
	var a answered
	if err := r.decode(&a); err != nil {
		return a, err
	}
	r.PromptTokens, r.OutputTokens, r.DoneReason = int(a.PromptEvalCount), int(a.EvalCount), a.DoneReason
	for _, token := range a.LogProbs {
		r.LogProbs = append(r.LogProbs, token.Logprob)
	}
	if !a.Done {
		return a, errCut
	}
	return a, nil
}

func (r *reply) readChat() error {
	a, err := r.readOllama()
	if err != nil {
		return err
	}
	if r.Message = a.Message; len(r.Message) == 0 || r.Message[0] != '{' {
		return fmt.Errorf("%w: it has no message", errReply)
	}
	return nil
}

func (r *chatRoute) answer(call tools.Call, result tools.Result) any {
	return struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Name    string `json:"tool_name"`
		ID      string `json:"tool_call_id,omitempty"`
	}{"tool", string(result.Content), call.Name, call.ID}
}

// ollamaTools converts a set to the client's type. What that type can not
// carry (bounds, defaults, closedness) does not reach the model; the calls are
// validated against the whole schema all the same.
func ollamaTools(set tools.Set) (api.Tools, error) {
	text, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding tools: %w", err)
	}
	var out api.Tools
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("converting tools for Ollama: %w", err)
	}
	return out, nil
}
