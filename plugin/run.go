package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// Outcome is what a run came to.
type Outcome struct {
	Output string             // what the agent said last, or the last observation of an ended episode
	Steps  []schema.AgentStep // one for each call
	Turns  int                // answers of the model that held calls
	Tokens int                // generated in them
}

// Run answers one input, without an executor. On an error the outcome up to it
// is returned as well.
func (a *Agent) Run(ctx context.Context, input string) (Outcome, error) {
	opening, err := a.beginning(map[string]string{"input": input})
	if err != nil {
		return Outcome{}, err
	}
	return a.run(ctx, input, opening)
}

func (a *Agent) run(ctx context.Context, input string, opening []llms.MessageContent) (Outcome, error) {
	hear := a.config.Callbacks
	hear.HandleChainStart(ctx, map[string]any{"input": input})
	outcome, err := a.loop(ctx, opening)
	if err != nil {
		hear.HandleChainError(ctx, err)
		return outcome, err
	}
	hear.HandleChainEnd(ctx, map[string]any{outputKey: outcome.Output})
	return outcome, nil
}

func (a *Agent) loop(ctx context.Context, opening []llms.MessageContent) (o Outcome, err error) {
	for {
		past := turns(o.Steps)
		o.count(past)
		actions, end, err := a.plan(ctx, opening, past, nil)
		if err != nil {
			return o, err
		}
		if end != nil {
			a.config.Callbacks.HandleAgentFinish(ctx, *end)
			o.Output, _ = end.ReturnValues[outputKey].(string)
			return o, nil
		}
		for _, action := range actions {
			observation, err := a.act(ctx, action)
			if err != nil {
				return o, err
			}
			o.Steps = append(o.Steps, schema.AgentStep{Action: action, Observation: observation})
		}
	}
}

// act makes one call.
func (a *Agent) act(ctx context.Context, action schema.AgentAction) (string, error) {
	a.config.Callbacks.HandleAgentAction(ctx, action)
	if wrong := fault(action); wrong != "" {
		return string(mistake(wrong).Content), nil
	}
	if t, ok := a.lookup(action.Tool); ok {
		return t.Call(ctx, action.ToolInput)
	}
	return a.stray(ctx, tools.Call{ID: action.ToolID, Name: action.Tool, Arguments: argumentsJSON(action.ToolInput)})
}

// stray hands the call of a tool that there is not to the episode.
func (a *Agent) stray(ctx context.Context, call tools.Call) (string, error) {
	a.config.Callbacks.HandleToolStart(ctx, string(call.Arguments))
	result, err := a.episode.call(ctx, call)
	if err != nil {
		a.config.Callbacks.HandleToolError(ctx, err)
		return "", &outage{fmt.Errorf("calling %q: %w", clip(call.Name, 80), err)}
	}
	a.config.Callbacks.HandleToolEnd(ctx, string(result.Content))
	return string(result.Content), nil
}

func (o *Outcome) count(past []played) {
	o.Turns, o.Tokens = 0, 0
	for _, p := range past {
		if p.Number > 0 {
			o.Turns++
		}
		o.Tokens += p.Tokens
	}
}

// Play plays one episode: the tools are the episode's, in place of the agent's
// own, and the conversation begins with the task's prompt. What the agent says
// at the end is said to the episode. A used-up budget is giving up and no
// error.
func (a *Agent) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	player, err := a.with(ctx, caller)
	if err != nil {
		return err
	}
	opening, err := prompt(task)
	if err != nil {
		return err
	}
	outcome, err := player.run(ctx, task.ID, player.opening(opening...))
	if errors.Is(err, ErrBudget) {
		return nil
	}
	if err != nil || over(player.guarded) {
		return err
	}
	speaker, ok := caller.(tools.Speaker)
	if !ok {
		return nil
	}
	if _, err := speaker.Say(ctx, outcome.Output); err != nil {
		return &outage{fmt.Errorf("saying the last word: %w", err)}
	}
	return nil
}

// prompt is the task's in langchaingo's form.
func prompt(task tools.Task) ([]llms.MessageContent, error) {
	roles := map[string]llms.ChatMessageType{
		"system": llms.ChatMessageTypeSystem, "user": llms.ChatMessageTypeHuman, "assistant": llms.ChatMessageTypeAI,
	}
	messages := make([]llms.MessageContent, len(task.Prompt))
	for i, m := range task.Prompt {
		role, ok := roles[m.Role]
		if !ok {
			return nil, fmt.Errorf("the prompt of %s has the unknown role %q", task.ID, m.Role)
		}
		messages[i] = llms.TextParts(role, m.Content)
	}
	return messages, nil
}

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

// read takes an answer into the turn: its calls, those that are written as text
// only where it has no others. The output is what a user sees of an answer
// without calls; that must be something.
func (a *Agent) read(choice *llms.ContentChoice, next *turn) (output string, err error) {
	next.hear(choice)
	for _, call := range choice.ToolCalls {
		if f := call.FunctionCall; f != nil {
			next.Calls = append(next.Calls, wanted{call.ID, f.Name, f.Arguments, a.unknown(f.Name)})
		}
	}
	if f := choice.FuncCall; f != nil && len(next.Calls) == 0 {
		next.Calls = append(next.Calls, wanted{"", f.Name, f.Arguments, a.unknown(f.Name)})
	}
	if len(next.Calls) == 0 {
		output, err = a.spell(choice, next)
	}
	next.number()
	if err == nil && len(next.Calls) == 0 && strings.TrimSpace(output) == "" {
		err = &emptyError{next.Tokens, choice.StopReason}
	}
	return output, err
}

// hear takes what an answer says beside its calls.
func (t *turn) hear(choice *llms.ContentChoice) {
	t.Content, t.Reason = choice.Content, choice.StopReason
	t.Prompted, _ = choice.GenerationInfo["PromptTokens"].(int)
	t.Tokens, _ = choice.GenerationInfo["CompletionTokens"].(int)
}

// emptyError is an answer without a call and without a text. Where the model
// generated tokens, its server has lost them.
type emptyError struct {
	tokens int
	reason string
}

func (e *emptyError) Error() string {
	return fmt.Sprintf("%s: the model's message is empty: no call and no text (%d tokens, stop reason %q)", agents.ErrUnableToParseOutput, e.tokens, e.reason)
}

func (e *emptyError) Unwrap() error { return agents.ErrUnableToParseOutput }

// number gives an id to each call that has none.
func (t *turn) number() {
	for i := range t.Calls {
		if t.Calls[i].ID == "" {
			t.Calls[i].ID = fmt.Sprintf("call_%d_%d", t.Number, i+1)
		}
	}
}

// spell reads calls out of the text. An attempt that can not be read is a call
// with a fault, so that the model may try again.
func (a *Agent) spell(choice *llms.ContentChoice, next *turn) (output string, err error) {
	input := parse.Input{Text: &choice.Content, Family: a.config.Family, FinishReason: choice.StopReason}
	reading, err := a.reader.Read(input)
	if err != nil {
		return "", fmt.Errorf("reading the model's text: %w", err)
	}
	for _, attempt := range reading.Attempts {
		call := wanted{attempt.ID, attempt.Name, string(attempt.Arguments), a.unknown(attempt.Name)}
		if !attempt.Counts() {
			call.Arguments, call.Fault = attempt.Raw, "this call can not be read: "+defects(attempt)
		}
		next.Calls, next.Spelt = append(next.Calls, call), true
	}
	return reading.Content, nil
}

// quoted looks for a call that a server's error quotes since it could not read
// it. That is the model's mistake, which it may mend: the turn has a call with a
// fault then. Every other error is returned.
func (a *Agent) quoted(failure error, next *turn) error {
	failed, ok := errors.AsType[*llms.Error](failure)
	if !ok {
		return failure
	}
	message, ok := failed.Details["message"].(string)
	status, _ := failed.Details["status"].(int)
	if !ok || status < http.StatusInternalServerError {
		return failure
	}
	body, err := json.Marshal(map[string]string{"error": message})
	if err != nil {
		return failure
	}
	reading, err := a.reader.Read(parse.Input{Message: body})
	if err != nil || len(reading.Attempts) == 0 {
		return failure
	}
	first := reading.Attempts[0]
	next.Content, next.Spelt = first.Raw, true
	next.Calls = []wanted{{first.ID, first.Name, first.Raw, "this call can not be read: " + message}}
	next.number()
	return nil
}

func defects(attempt parse.Attempt) string {
	names := []string{string(attempt.Status)}
	for _, d := range attempt.Defects {
		if string(d) != names[0] {
			names = append(names, string(d))
		}
	}
	return strings.Join(names, ", ")
}
