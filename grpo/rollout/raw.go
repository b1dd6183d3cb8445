package rollout

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo/parse"
	"toolgym/internal/ollama"
	"toolgym/tools"
)

// Raw asks an Ollama server at /api/generate with a prompt that is rendered
// here.
type Raw struct {
	Config
	Template string       // the model's own, as Probe finds it; without one for tools, ours is put in
	Family   parse.Family // how the model writes calls; empty means auto
}

// Run plays the task; see the manual.
func (r Raw) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (Transcript, error) {
	family := r.Family
	if family == "" {
		family = parse.Auto
	}
	d := &dialogue{config: r.Config, Transcript: Transcript{Family: family}}
	d.open = func(task tools.Task, set tools.Set) (route, error) { return r.route(task, set, seed) }
	return d.run(ctx, env, task)
}

// Prompt is what the model is given first.
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

// render writes the prompt with the conversation so far. What the model wrote
// itself stands there as it wrote it.
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
