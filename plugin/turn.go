package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
)

// turn is what a model said in one message: the calls belong together, and the
// model must see them again together. An executor of langchaingo keeps only a
// list of steps, one a call. So every step of a turn carries the whole turn in
// its Log, as JSON, and an [Agent] needs no memory between its plans.
type turn struct {
	Number  int       `json:"turn"` // from 1
	Content string    `json:"content,omitempty"`
	Calls   []wanted  `json:"calls"`
	Spelt   bool      `json:"spelt,omitempty"` // the calls were read out of Content
	Tokens  int       `json:"tokens,omitempty"`
	Began   time.Time `json:"began"` // when the run began
}

// wanted is a call as the model wrote it; Arguments may be no JSON at all.
type wanted struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// actions are the calls in the form of an executor, which folds the case of
// names: one that only differs in case from a tool's is marked, or it would be
// called.
func (t turn) actions(known func(string) bool, folded func(string) bool) ([]schema.AgentAction, error) {
	log, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encoding a turn: %w", err)
	}
	actions := make([]schema.AgentAction, len(t.Calls))
	for i, call := range t.Calls {
		name := call.Name
		if !known(name) && folded(name) {
			name += " (in this spelling)"
		}
		actions[i] = schema.AgentAction{Tool: name, ToolInput: call.Arguments, ToolID: call.ID, Log: string(log)}
	}
	return actions, nil
}

// turnOf reads the turn back out of a step's action.
func turnOf(action schema.AgentAction) (turn, bool) {
	var t turn
	if !strings.HasPrefix(action.Log, `{"turn":`) {
		return t, false
	}
	err := json.Unmarshal([]byte(action.Log), &t)
	return t, err == nil && t.Number > 0
}

// played is a turn and what came of its calls. A turn that an executor made of
// an error, and not of an answer of the model, has only observations.
type played struct {
	turn
	observations []string // one for each call that was made, in order
}

// turns puts the steps of a run back together.
func turns(steps []schema.AgentStep) []played {
	var all []played
	for _, step := range steps {
		t, ok := turnOf(step.Action)
		last := len(all) - 1
		if !ok || last < 0 || all[last].Number != t.Number {
			all = append(all, played{turn: t})
			last++
		}
		all[last].observations = append(all[last].observations, step.Observation)
	}
	return all
}

// messages shows a turn to the model again: its own message, and a result for
// each call. unknown says what a call of no tool is answered with.
func (p played) messages(unknown func(string) (string, bool)) []llms.MessageContent {
	if p.Number == 0 {
		return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, p.observations...)}
	}
	said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if p.Content != "" {
		said.Parts = append(said.Parts, llms.TextPart(p.Content))
	}
	results := make([]llms.MessageContent, 0, len(p.Calls))
	for i, call := range p.Calls {
		if !p.Spelt {
			said.Parts = append(said.Parts, llms.ToolCall{ID: call.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: call.Arguments}})
		}
		answer, no := unknown(call.Name)
		switch {
		case no:
		case i < len(p.observations):
			answer = p.observations[i]
		default:
			answer = "this call was not made"
		}
		results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: answer}}})
	}
	return append([]llms.MessageContent{said}, results...)
}
