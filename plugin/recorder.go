package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"toolgym/grpo/match"
	"toolgym/tools"
)

// Recorder is a callbacks handler that keeps one run, of an [Agent] or of any
// agent of langchaingo, so that it can be looked at, graded and learnt from. Give
// it to whatever fires callbacks:
//
//	recorder := &plugin.Recorder{Task: task}
//	model: ModelConfig.Callbacks, or the CallbacksHandler of langchaingo's models
//	tools: AgentConfig.Callbacks, or Guard(tools, limits, recorder) for other agents
//	executor: agents.WithCallbacksHandler(recorder)
//
// Of an Agent the tools' place alone is enough, with Run and with an executor
// that has the recorder as well. Of other agents, what none of the places tells
// is missing: without the tools, results are known from the next question to
// the model, or from agents.WithReturnIntermediateSteps.
//
// A Recorder is for one run, and safe for concurrent use.
type Recorder struct {
	callbacks.SimpleHandler

	Task     tools.Task      // what was to be done; without an id, Tools and Expected say it
	Tools    tools.Set       // what was offered
	Expected *match.Expected // what should have been called, for tasks without an environment

	mu      sync.Mutex
	prompt  []llms.MessageContent
	turns   []heard
	stepped *watched
	ended   bool
}

var _ callbacks.Handler = (*Recorder)(nil)

// heard is one message of the model as far as it is known.
type heard struct {
	turn
	told  bool // by the model, and not only by its actions
	calls []heardCall
}

type heardCall struct {
	wanted
	taken    bool // an action was heard for it
	answered bool
	failed   bool
	result   string
}

// HandleChainStart takes the prompt from the input, unless the model tells it
// better.
func (r *Recorder) HandleChainStart(_ context.Context, inputs map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := inputs["input"].(string); ok && r.prompt == nil {
		r.prompt = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
	}
}

// HandleLLMGenerateContentStart takes the prompt from the first question, and
// missing results from the later ones.
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

// HandleLLMGenerateContentEnd keeps what the model said.
func (r *Recorder) HandleLLMGenerateContentEnd(_ context.Context, response *llms.ContentResponse) {
	if response == nil || len(response.Choices) == 0 {
		return
	}
	choice := response.Choices[0]
	said := heard{told: true}
	said.hear(choice)
	for _, call := range choice.ToolCalls {
		if f := call.FunctionCall; f != nil {
			said.calls = append(said.calls, heardCall{wanted: wanted{ID: call.ID, Name: f.Name, Arguments: f.Arguments}})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = append(r.turns, said)
}

// HandleAgentAction keeps a call.
func (r *Recorder) HandleAgentAction(_ context.Context, action schema.AgentAction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := turnOf(action); ok {
		r.own(t)
		r.take(func(c heardCall) bool { return c.ID == action.ToolID })
		return
	}
	if r.take(func(c heardCall) bool { return c.Name == action.Tool && (c.ID == action.ToolID || action.ToolID == "") }) {
		return
	}
	call := heardCall{taken: true, wanted: wanted{ID: action.ToolID, Name: action.Tool, Arguments: r.argumentsOf(action)}}
	if last := r.last(); last != nil && last.told && len(last.calls) == 0 {
		last.calls = append(last.calls, call) // its text held the action
		return
	}
	r.turns = append(r.turns, heard{calls: []heardCall{call}})
}

// own makes sure that the turn of an Agent is the last one.
func (r *Recorder) own(t turn) {
	last := r.last()
	if last != nil && last.Number == t.Number {
		return
	}
	if last == nil || !last.told || last.Number > 0 {
		r.turns = append(r.turns, heard{})
		last = r.last()
	}
	last.turn, last.calls = t, nil
	for _, call := range t.Calls {
		c := heardCall{wanted: call}
		if call.Fault != "" {
			c.answered, c.failed, c.result = true, true, string(mistake(call.Fault).Content)
		}
		last.calls = append(last.calls, c)
	}
}

// take marks the first call of the last turn that fits and was not taken yet.
func (r *Recorder) take(fits func(heardCall) bool) bool {
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

// HandleToolEnd keeps a result.
func (r *Recorder) HandleToolEnd(_ context.Context, output string) { r.answer(output, false) }

// HandleToolError keeps a failure, as the agent gets to see it.
func (r *Recorder) HandleToolError(_ context.Context, err error) {
	r.answer(string(mistake(err.Error()).Content), true)
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

// HandleAgentFinish keeps the last words, where they are the model's.
func (r *Recorder) HandleAgentFinish(_ context.Context, end schema.AgentFinish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last()
	said := last != nil && last.told && len(last.calls) == 0
	text, _ := end.ReturnValues[outputKey].(string)
	if !said && end.Log != "" && end.Log != episodeOver {
		r.turns = append(r.turns, heard{turn: turn{Content: text}})
	}
	r.ended = end.Log != "" || said
}

// HandleChainError keeps an empty answer, of which nothing else tells.
func (r *Recorder) HandleChainError(_ context.Context, err error) {
	empty, ok := errors.AsType[*emptyError](err)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last(); last == nil || !last.told || len(last.calls) > 0 {
		r.turns = append(r.turns, heard{turn: turn{Tokens: empty.tokens, Reason: empty.reason}})
	}
}

// HandleChainEnd takes missing results from the steps, where the executor
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

// fill answers the call of that id, if nothing else did.
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

func (r *Recorder) last() *heard {
	if len(r.turns) == 0 {
		return nil
	}
	return &r.turns[len(r.turns)-1]
}

// argumentsOf writes the input of a foreign agent's action as the object that
// the tool was called with.
func (r *Recorder) argumentsOf(action schema.AgentAction) string {
	only := "input"
	if t, ok := r.Tools.Lookup(action.Tool); ok {
		only = onlyString(t.Parameters)
	}
	return string(arguments(action.ToolInput, only))
}

// argumentsJSON is what a call's arguments are in JSON: the object, or the text
// that should have been one.
func argumentsJSON(text string) json.RawMessage {
	if object := arguments(text, ""); json.Valid(object) {
		return object
	}
	quoted, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return json.RawMessage(`""`)
	}
	return quoted
}
