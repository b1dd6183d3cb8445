package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// Recorder is a callbacks handler that records one run, of an [Agent] or of an
// agent of langchaingo, so that it can be inspected, graded and used for
// training. Pass it to everything that has callbacks:
//
//	recorder := &plugin.Recorder{Task: task}
//	model: ModelConfig.Callbacks, or the CallbacksHandler of langchaingo's models
//	tools: AgentConfig.Callbacks, or Guard(tools, limits, recorder) for other agents
//	executor: agents.WithCallbacksHandler(recorder)
//
// For an Agent AgentConfig.Callbacks is sufficient, with Run and with an executor
// that has the recorder as well. For other agents, what no callback reports is
// missing: without the tools' callbacks, results are known only from the next
// request to the model, or from agents.WithReturnIntermediateSteps.
//
// A Recorder is for one run. It is safe for concurrent use.
type Recorder struct {
	callbacks.SimpleHandler

	Task     tools.Task      // without an id, Tools and Expected describe the task
	Tools    tools.Set       // the tools that the agent has
	Expected *match.Expected // the expected calls, for tasks without an environment

	mu      sync.Mutex
	prompt  []llms.MessageContent
	turns   []recordedTurn
	stepped *watchedCaller
	ended   bool
}

var _ callbacks.Handler = (*Recorder)(nil)

// recordedTurn is one message of the model, as far as it is known.
type recordedTurn struct {
	turn
	reported bool // whether the model reported it, and not only its actions
	calls    []recordedCall
}

type recordedCall struct {
	requestedCall
	taken    bool // whether there is an action for it
	answered bool
	failed   bool
	result   string
}

// HandleChainStart records the input as the prompt until the model reports a
// better one.
func (r *Recorder) HandleChainStart(_ context.Context, inputs map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := inputs["input"].(string); ok && r.prompt == nil {
		r.prompt = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
	}
}

// HandleLLMGenerateContentStart records the prompt at the first request, and
// missing results at later ones.
func (r *Recorder) HandleLLMGenerateContentStart(_ context.Context, messages []llms.MessageContent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.turns) == 0 {
		r.prompt = messages
		return
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			if response, ok := part.(llms.ToolCallResponse); ok {
				r.fill(response.ToolCallID, response.Content)
			}
		}
	}
}

// HandleLLMGenerateContentEnd records a message of the model.
func (r *Recorder) HandleLLMGenerateContentEnd(_ context.Context, response *llms.ContentResponse) {
	if response == nil || len(response.Choices) == 0 {
		return
	}
	choice := response.Choices[0]
	said := recordedTurn{reported: true}
	said.fill(choice)
	for _, call := range choice.ToolCalls {
		if f := call.FunctionCall; f != nil {
			said.calls = append(said.calls, recordedCall{requestedCall: requestedCall{ID: call.ID, Name: f.Name, Arguments: f.Arguments}})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = append(r.turns, said)
}

// HandleAgentAction records a call.
func (r *Recorder) HandleAgentAction(_ context.Context, action schema.AgentAction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := turnOf(action); ok {
		r.own(t)
		r.take(func(c recordedCall) bool { return c.ID == action.ToolID })
		return
	}
	if r.take(func(c recordedCall) bool {
		return c.Name == action.Tool && (c.ID == action.ToolID || action.ToolID == "")
	}) {
		return
	}
	call := recordedCall{taken: true, requestedCall: requestedCall{ID: action.ToolID, Name: action.Tool, Arguments: r.argumentsOf(action)}}
	if last := r.last(); last != nil && last.reported && len(last.calls) == 0 {
		last.calls = append(last.calls, call) // the action was in its text
		return
	}
	r.turns = append(r.turns, recordedTurn{calls: []recordedCall{call}})
}

// own makes the turn of an Agent the last turn.
func (r *Recorder) own(t turn) {
	last := r.last()
	if last != nil && last.Number == t.Number {
		return
	}
	if last == nil || !last.reported || last.Number > 0 {
		r.turns = append(r.turns, recordedTurn{})
		last = r.last()
	}
	last.turn, last.calls = t, nil
	for _, call := range t.Calls {
		c := recordedCall{requestedCall: call}
		if call.Fault != "" {
			c.answered, c.failed, c.result = true, true, string(errorResult(call.Fault).Content)
		}
		last.calls = append(last.calls, c)
	}
}

// take marks the first call of the last turn that matches and is not marked
// yet.
func (r *Recorder) take(fits func(recordedCall) bool) bool {
	last := r.last()
	if last == nil {
		return false
	}
	for i := range last.calls {
		if c := &last.calls[i]; !c.taken && fits(*c) {
			c.taken = true
			return true
		}
	}
	return false
}

// HandleToolEnd records a result.
func (r *Recorder) HandleToolEnd(_ context.Context, output string) { r.answer(output, false) }

// HandleToolError keeps a failure, as the agent gets to see it.
func (r *Recorder) HandleToolError(_ context.Context, err error) {
	r.answer(string(errorResult(err.Error()).Content), true)
}

func (r *Recorder) answer(output string, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.turns {
		for k := range r.turns[i].calls {
			if c := &r.turns[i].calls[k]; c.taken && !c.answered {
				c.result, c.answered, c.failed = output, true, failed
				return
			}
		}
	}
}

// HandleAgentFinish records the final text if it is the model's.
func (r *Recorder) HandleAgentFinish(_ context.Context, end schema.AgentFinish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last()
	said := last != nil && last.reported && len(last.calls) == 0
	text, _ := end.ReturnValues[outputKey].(string)
	if !said && end.Log != "" && end.Log != episodeOver {
		r.turns = append(r.turns, recordedTurn{turn: turn{Content: text}})
	}
	r.ended = end.Log != "" || said
}

// HandleChainError records an empty message, which no other callback reports.
func (r *Recorder) HandleChainError(_ context.Context, err error) {
	empty, ok := errors.AsType[*emptyError](err)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last(); last == nil || !last.reported || len(last.calls) > 0 {
		r.turns = append(r.turns, recordedTurn{turn: turn{Tokens: empty.tokens, Reason: empty.reason}})
	}
}

// HandleChainEnd records missing results from the steps, if the executor
// returns them.
func (r *Recorder) HandleChainEnd(_ context.Context, outputs map[string]any) {
	steps, ok := outputs["intermediateSteps"].([]schema.AgentStep)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for i := range r.turns {
		for k := range r.turns[i].calls {
			if c := &r.turns[i].calls[k]; c.taken && n < len(steps) {
				if !c.answered {
					c.result, c.answered = steps[n].Observation, true
				}
				n++
			}
		}
	}
}

// fill sets the result of the call with that id, if it has none.
func (r *Recorder) fill(id, result string) {
	for i := range r.turns {
		for k := range r.turns[i].calls {
			if c := &r.turns[i].calls[k]; c.ID == id && id != "" && !c.answered {
				c.result, c.answered = result, true
				return
			}
		}
	}
}

func (r *Recorder) last() *recordedTurn {
	if len(r.turns) == 0 {
		return nil
	}
	return &r.turns[len(r.turns)-1]
}

// argumentsOf converts the input of an action of another agent to the object
// that the tool was called with.
func (r *Recorder) argumentsOf(action schema.AgentAction) string {
	only := "input"
	if t, ok := r.Tools.Lookup(action.Tool); ok {
		only = singleStringParameter(t.Parameters)
	}
	return string(arguments(action.ToolInput, only))
}

// argumentsAsJSON returns the arguments of a call as JSON: the object, or the
// text as a JSON string.
func argumentsAsJSON(text string) json.RawMessage {
	if object := arguments(text, ""); json.Valid(object) {
		return object
	}
	quoted, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return json.RawMessage(`""`)
	}
	return quoted
}

// Watch returns a caller that records the steps of the given one. With it the
// trajectory is that of the environment, with rewards; without it the
// trajectory is built from the callbacks. Pass the returned caller to the
// agent.
func (r *Recorder) Watch(caller tools.Caller) tools.Caller {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stepped = &watchedCaller{Caller: caller, recorder: r}
	return r.stepped
}

type watchedCaller struct {
	tools.Caller
	recorder *Recorder
	steps    []tools.Step
}

func (w *watchedCaller) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	step, err := w.Caller.Step(ctx, call)
	if err == nil {
		w.recorder.mu.Lock()
		defer w.recorder.mu.Unlock()
		w.steps = append(w.steps, step)
	}
	return step, err
}

// Trajectory returns the run so far. Rewards and success are known only if the
// environment is watched.
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

// steps returns the calls that were made and the messages without calls. The
// last message ends the run.
func (r *Recorder) steps() []tools.Step {
	steps := []tools.Step{}
	for i, said := range r.turns {
		for _, c := range said.calls {
			if !c.taken {
				continue
			}
			call := tools.Call{ID: c.ID, Name: c.Name, Arguments: argumentsAsJSON(c.Arguments)}
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

// toolResult returns the result as a toolgym tool returns it; empty if none was
// recorded.
func (c recordedCall) toolResult() tools.Result {
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

// Completion returns the run for the grader: the messages of the model and the
// results between them.
func (r *Recorder) Completion() (grpo.Completion, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	messages, err := r.messages()
	c := grpo.Completion{Messages: messages, Family: parse.Structured}
	tokens := 0
	for _, said := range r.turns {
		tokens += said.Tokens
		if said.Reason != "" { // not every final message has one
			c.FinishReason = said.Reason
		}
	}
	if tokens > 0 {
		c.Tokens = &tokens
	}
	return c, err
}

func (r *Recorder) messages() ([]json.RawMessage, error) {
	var messages []json.RawMessage // nil without any message of the model
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

// message converts the turn to a chat message. Calls that the model wrote as
// text stay text.
func (h recordedTurn) message() message {
	m := message{Role: "assistant", Content: h.Content}
	for _, c := range h.calls {
		if !h.FromText {
			m.ToolCalls = append(m.ToolCalls, messageCall{c.ID, "function", messageFunction{c.Name, argumentsAsJSON(c.Arguments)}})
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

// Group returns the run as a group of one for [grpo.Scorer.Score].
func (r *Recorder) Group(id string) (grpo.Group, error) {
	completion, err := r.Completion()
	g := grpo.Group{ID: id, TaskID: r.Task.ID, Completions: []grpo.Completion{completion}}
	if g.TaskID == "" {
		g.Tools, g.Expected = r.Tools, r.Expected
	}
	return g, err
}

// Line returns the run as one line for "toolgym score", without a line break.
// Use the same group name for runs of one task. It is an error, code conflict,
// if the recorder has recorded no message.
func (r *Recorder) Line(group string) ([]byte, error) {
	g, err := r.Group(group)
	if err == nil && g.Completions[0].Messages == nil {
		err = &tools.Error{Code: tools.Conflict, Message: "no model calls recorded", Want: "the recorder in AgentConfig.Callbacks (see Recorder), and a run before Line"}
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

// Sample is a run as trainers read it: a conversation from the prompt on, and
// the tools.
type Sample struct {
	TaskID   string            `json:"task_id,omitempty"`
	Messages []json.RawMessage `json:"messages"`
	Tools    tools.Set         `json:"tools,omitempty"`
	Reward   *float64          `json:"reward,omitempty"` // as graded
}

// Sample returns the run as a training sample. The score, which may be nil,
// provides the reward.
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

// promptOf converts the texts of a prompt.
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
