package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// Watch hands a caller on and keeps its steps. With it the trajectory is the
// environment's own, rewards included; without it the trajectory is made of
// what the callbacks tell. The caller that it returns must be the one whose
// tools the agent has.
func (r *Recorder) Watch(caller tools.Caller) tools.Caller {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stepped = &watched{Caller: caller, recorder: r}
	return r.stepped
}

type watched struct {
	tools.Caller
	recorder *Recorder
	steps    []tools.Step
}

func (w *watched) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	step, err := w.Caller.Step(ctx, call)
	if err == nil {
		w.recorder.mu.Lock()
		defer w.recorder.mu.Unlock()
		w.steps = append(w.steps, step)
	}
	return step, err
}

// Trajectory is the run so far. Rewards and success are known of watched
// environments only.
func (r *Recorder) Trajectory() tools.Trajectory {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := tools.Trajectory{Task: r.Task, Steps: []tools.Step{}}
	if len(t.Task.Prompt) == 0 {
		t.Task.Prompt = promptOf(r.prompt)
	}
	if r.stepped == nil {
		t.Steps = r.steps()
	} else {
		t.Steps = append(t.Steps, r.stepped.steps...)
		if env, ok := r.stepped.Caller.(interface{ Success() bool }); ok {
			t.Success = env.Success()
		}
	}
	for _, step := range t.Steps {
		t.Return += step.Reward
		t.Terminated, t.Truncated = step.Terminated, step.Truncated
	}
	return t
}

// steps are the calls that were made and the messages without calls. The last
// message ends the run.
func (r *Recorder) steps() []tools.Step {
	steps := []tools.Step{}
	for i, said := range r.turns {
		for _, c := range said.calls {
			if !c.taken {
				continue
			}
			call := tools.Call{ID: c.ID, Name: c.Name, Arguments: argumentsJSON(c.Arguments)}
			steps = append(steps, tools.Transition(call, c.toolResult(), 0))
		}
		if len(said.calls) > 0 {
			continue
		}
		step := tools.Transition(tools.Call{}, tools.Result{}, 0)
		if r.ended && i == len(r.turns)-1 {
			step = tools.Termination(tools.Call{}, tools.Result{}, 0)
		}
		steps = append(steps, step.Spoken(said.Content))
	}
	return steps
}

// toolResult is the result as a toolgym tool would give it; none if it was not
// heard.
func (c heardCall) toolResult() tools.Result {
	if !c.answered {
		return tools.Result{}
	}
	body, err := content(c.result)
	if err != nil { // a map of strings always encodes
		return tools.Result{}
	}
	var object map[string]json.RawMessage
	failed := json.Unmarshal(body, &object) == nil && len(object) == 1 && object["error"] != nil
	return tools.Result{Content: body, IsError: c.failed || failed}
}

// Completion is the run as a grader takes it: the model's messages and the
// results in between.
func (r *Recorder) Completion() (grpo.Completion, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	messages, err := r.messages()
	c := grpo.Completion{Messages: messages, Family: parse.Structured}
	tokens := 0
	for _, said := range r.turns {
		tokens += said.Tokens
		if said.Reason != "" { // not every last word comes with one
			c.FinishReason = said.Reason
		}
	}
	if tokens > 0 {
		c.Tokens = &tokens
	}
	return c, err
}

func (r *Recorder) messages() ([]json.RawMessage, error) {
	var messages []json.RawMessage // nil where the model said nothing at all
	add := func(m message) error {
		text, err := json.Marshal(m)
		messages = append(messages, text)
		return err
	}
	for _, said := range r.turns {
		if err := add(said.message()); err != nil {
			return nil, fmt.Errorf("encoding a message: %w", err)
		}
		for _, c := range said.calls {
			if !c.answered {
				continue
			}
			if err := add(message{Role: "tool", Content: c.result, ToolName: c.Name, ToolCallID: c.ID}); err != nil {
				return nil, fmt.Errorf("encoding a result: %w", err)
			}
		}
	}
	return messages, nil
}

// message is the turn as a chat's. Calls that the model wrote as text stay text.
func (h heard) message() message {
	m := message{Role: "assistant", Content: h.Content}
	for _, c := range h.calls {
		if !h.Spelt {
			m.ToolCalls = append(m.ToolCalls, messageCall{c.ID, "function", messageFunction{c.Name, argumentsJSON(c.Arguments)}})
		}
	}
	return m
}

type message struct {
	Role       string        `json:"role"`
	Content    string        `json:"content"`
	ToolCalls  []messageCall `json:"tool_calls,omitempty"`
	ToolName   string        `json:"tool_name,omitempty"`
	ToolCallID string        `json:"tool_call_id,omitempty"`
}

type messageCall struct {
	ID       string          `json:"id,omitempty"`
	Type     string          `json:"type"`
	Function messageFunction `json:"function"`
}

type messageFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Group is the run as a group of one for [grpo.Scorer.Score].
func (r *Recorder) Group(id string) (grpo.Group, error) {
	completion, err := r.Completion()
	g := grpo.Group{ID: id, TaskID: r.Task.ID, Completions: []grpo.Completion{completion}}
	if g.TaskID == "" {
		g.Tools, g.Expected = r.Tools, r.Expected
	}
	return g, err
}

// Line is the run as one line for "toolgym score", without a line break. Runs
// of one task should bear one group's name. A recorder that heard nothing has
// none: it is a conflict.
func (r *Recorder) Line(group string) ([]byte, error) {
	g, err := r.Group(group)
	if err == nil && g.Completions[0].Messages == nil {
		err = &tools.Error{Code: tools.Conflict, Message: "the recorder has heard no model", Want: "the recorder in AgentConfig.Callbacks (see Recorder), and a run before its line"}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Group    string          `json:"group"`
		TaskID   string          `json:"task_id,omitempty"`
		Tools    tools.Set       `json:"tools,omitempty"`
		Expected *match.Expected `json:"expected,omitempty"`
		grpo.Completion
	}{g.ID, g.TaskID, g.Tools, g.Expected, g.Completions[0]})
}

// Sample is a run as trainers take it: a conversation from the prompt on, and
// the tools that were offered.
type Sample struct {
	TaskID   string            `json:"task_id,omitempty"`
	Messages []json.RawMessage `json:"messages"`
	Tools    tools.Set         `json:"tools,omitempty"`
	Reward   *float64          `json:"reward,omitempty"` // as graded
}

// Sample is the run as a training sample. The score, which may be nil, gives
// its reward.
func (r *Recorder) Sample(score *grpo.Score) (Sample, error) {
	task := r.Trajectory().Task
	r.mu.Lock()
	defer r.mu.Unlock()
	said, err := r.messages()
	if err != nil {
		return Sample{}, err
	}
	s := Sample{TaskID: task.ID, Tools: r.Tools}
	if score != nil {
		s.Reward = score.Reward
	}
	for _, m := range task.Prompt {
		text, err := json.Marshal(m)
		if err != nil {
			return Sample{}, fmt.Errorf("encoding the prompt: %w", err)
		}
		s.Messages = append(s.Messages, text)
	}
	s.Messages = append(s.Messages, said...)
	return s, nil
}

// promptOf writes the texts of a prompt in toolgym's form.
func promptOf(prompt []llms.MessageContent) []tools.Message {
	var messages []tools.Message
	for _, m := range prompt {
		role, err := roleOf(m.Role)
		if err != nil {
			role = string(m.Role)
		}
		for _, part := range m.Parts {
			if text, ok := part.(llms.TextContent); ok {
				messages = append(messages, tools.Message{Role: role, Content: text.Text})
			}
		}
	}
	return messages
}
