package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/ollama"
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

// chatRoute is the conversation about one task.
type chatRoute struct {
	chat    Chat
	request ollama.ChatRequest
	prompt  []json.RawMessage
}

func (c Chat) route(task tools.Task, set tools.Set, seed int) (*chatRoute, error) {
	converted, _, err := ollama.Tools(functions(set)) // what is lost, Hidden lists
	if err != nil {
		return nil, fmt.Errorf("converting tools for Ollama: %w", err)
	}
	prompt, err := messages(task)
	if err != nil {
		return nil, err
	}
	request := ollama.ChatRequest{Model: c.Model, Tools: converted, Format: c.Format, LogProbs: c.LogProbs,
		Options: c.options(seed), Truncate: new(bool), Shift: new(bool)}
	if c.Think != nil {
		request.Think = *c.Think
	}
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
func (r *reply) readOllama() (ollama.Reply, error) {
	var a ollama.Reply
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

// functions are the tools of a set as they are declared.
func functions(set tools.Set) []ollama.Function {
	list := make([]ollama.Function, len(set))
	for i, t := range set {
		list[i] = ollama.Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	return list
}

// Hidden lists what the chat route cannot carry of the tools' schemas, so that a
// model never sees it: JSON pointers into the list of tools, with the reason
// where there is one to give. Calls are validated against the whole schemas.
func Hidden(set tools.Set) ([]string, error) {
	_, losses, err := ollama.Tools(functions(set))
	if err != nil {
		return nil, fmt.Errorf("converting tools for Ollama: %w", err)
	}
	var list []string
	for _, loss := range losses {
		list = append(list, loss.String())
	}
	return list, nil
}
