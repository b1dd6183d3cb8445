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
	Began   time.Time `json:"began"`           // when the run began

	Prompted int    `json:"prompted,omitempty"` // tokens that the model read
	Tokens   int    `json:"tokens,omitempty"`   // and wrote
	Reason   string `json:"reason,omitempty"`   // why it stopped
}

// wanted is a call as the model wrote it; Arguments may be no JSON at all. Fault
// says why it can not be made, and is what the model is answered then.
type wanted struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Fault     string `json:"fault,omitempty"`
}

// actions are the calls in the form of an executor. It must not find a tool for
// a call that has a fault, and it folds the case of names: so such a call gets
// a name that no tool has.
func (t turn) actions() ([]schema.AgentAction, error) {
	log, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encoding a turn: %w", err)
	}
	actions := make([]schema.AgentAction, len(t.Calls))
	for i, call := range t.Calls {
		name := call.Name
		if call.Fault != "" {
			name += " (no call)"
		}
		actions[i] = schema.AgentAction{Tool: name, ToolInput: call.Arguments, ToolID: call.ID, Log: string(log)}
	}
	return actions, nil
}

// fault finds what is wrong with an action's call; "" if nothing is.
func fault(action schema.AgentAction) string {
	t, _ := turnOf(action)
	for _, call := range t.Calls {
		if call.ID == action.ToolID {
			return call.Fault
		}
	}
	return ""
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
// each call. Calls that it wrote as text are shown as it wrote them.
func (p played) messages() []llms.MessageContent {
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
		answer := string(mistake(call.Fault).Content)
		if call.Fault == "" && i < len(p.observations) {
			answer = p.observations[i]
		} else if call.Fault == "" {
			answer = string(mistake("this call was not made").Content)
		}
		results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: answer}}})
	}
	return append([]llms.MessageContent{said}, results...)
}
