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

// Run plays the task; see the package documentation.
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
	converted, _, err := ollama.Tools(functions(set)) // Hidden lists the losses
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

// messages returns the prompt of a task as JSON.
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

// decode decodes a reply. A reply that ends early is [errCut]; one of another
// form is [errReply].
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

// readOllama reads a reply of Ollama. It must be marked as done: a connection
// that ends between two writes looks like a shorter reply.
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
		return fmt.Errorf("%w: no message", errReply)
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

// functions converts a set to declarations.
func functions(set tools.Set) []ollama.Function {
	list := make([]ollama.Function, len(set))
	for i, t := range set {
		list[i] = ollama.Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	return list
}

// Hidden lists what the chat route cannot carry of the tools' schemas, so that
// a model never sees it: JSON pointers into the list of tools, with a reason if
// it is not the keyword alone. Calls are validated against the whole schemas.
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

// Raw asks an Ollama server at /api/generate with a prompt that is rendered by
// this package.
type Raw struct {
	Config
	Template string       // of the model, as Probe returns it; tools are added if it does not use them
	Family   parse.Family // the format of calls; empty means auto
}

// Run plays the task; see the package documentation.
func (r Raw) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (Transcript, error) {
	family := r.Family
	if family == "" {
		family = parse.Auto
	}
	d := &dialogue{config: r.Config, Transcript: Transcript{Family: family}}
	d.open = func(task tools.Task, set tools.Set) (route, error) { return r.route(task, set, seed) }
	return d.run(ctx, env, task)
}

// Prompt returns the first prompt of the model.
func (r Raw) Prompt(ctx context.Context, task tools.Task, set tools.Set) (string, error) {
	opened, err := r.route(task, set, 0)
	if err != nil {
		return "", err
	}
	return opened.render(ctx, nil)
}

type rawRoute struct {
	raw      Raw
	template *chatTemplate
	set      tools.Set
	prompt   []tools.Message
	request  ollama.GenerateRequest
}

func (r Raw) route(task tools.Task, set tools.Set, seed int) (*rawRoute, error) {
	t, err := parseTemplate(r.Template)
	if err != nil {
		return nil, err
	}
	request := ollama.GenerateRequest{Model: r.Model, Raw: true, Format: r.Format, LogProbs: r.LogProbs,
		Options: r.options(seed), Truncate: new(bool), Shift: new(bool)}
	return &rawRoute{raw: r, template: t, set: set, prompt: task.Prompt, request: request}, nil
}

// render renders the prompt with the conversation so far. The messages of the
// model are inserted unchanged.
func (r *rawRoute) render(ctx context.Context, conversation []json.RawMessage) (string, error) {
	messages := make([]templateMessage, 0, len(r.prompt)+len(conversation))
	for _, m := range r.prompt {
		messages = append(messages, templateMessage{Role: m.Role, Content: m.Content})
	}
	for _, text := range conversation {
		var m struct {
			Role    string `json:"role"`
			Content string `json:"content"`
			Name    string `json:"tool_name"`
			ID      string `json:"tool_call_id"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return "", fmt.Errorf("reading the conversation: %w", err)
		}
		messages = append(messages, templateMessage{Role: m.Role, Content: m.Content, ToolName: m.Name, ToolCallID: m.ID})
	}
	return r.template.render(ctx, messages, r.set)
}

func (r *rawRoute) ask(ctx context.Context, conversation []json.RawMessage) (reply, error) {
	prompt, err := r.render(ctx, conversation)
	if err != nil {
		return reply{}, err
	}
	if err := take(ctx, len(prompt)); err != nil {
		return reply{}, err
	}
	r.request.Prompt = prompt
	got, err := r.raw.post(ctx, "/api/generate", r.request, "")
	got.Prompt = prompt
	if err != nil || got.Error != "" {
		return got, err
	}
	a, err := got.readOllama()
	if err != nil {
		return got, err
	}
	got.Message, err = json.Marshal(tools.Message{Role: "assistant", Content: a.Response})
	return got, err
}

func (r *rawRoute) answer(call tools.Call, result tools.Result) any {
	return struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Name    string `json:"tool_name"`
	}{"tool", string(result.Content), call.Name}
}
