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

// Outcome is the result of a run.
type Outcome struct {
	Output string             // the final answer, or the last observation of an ended episode
	Steps  []schema.AgentStep // one per call
	Turns  int                // messages of the model with calls
	Tokens int                // generated in them
}

// Run answers one input without an executor. If it fails, it returns the
// outcome so far with the error.
func (a *Agent) Run(ctx context.Context, input string) (Outcome, error) {
	opening, err := a.initialMessages(map[string]string{"input": input})
	if err != nil {
		return Outcome{}, err
	}
	return a.run(ctx, input, opening)
}

func (a *Agent) run(ctx context.Context, input string, opening []llms.MessageContent) (Outcome, error) {
	handler := a.config.Callbacks
	handler.HandleChainStart(ctx, map[string]any{"input": input})
	outcome, err := a.loop(ctx, opening)
	if err != nil {
		handler.HandleChainError(ctx, err)
		return outcome, err
	}
	handler.HandleChainEnd(ctx, map[string]any{outputKey: outcome.Output})
	return outcome, nil
}

func (a *Agent) loop(ctx context.Context, opening []llms.MessageContent) (o Outcome, err error) {
	for {
		past := turnsOf(o.Steps)
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
		return string(errorResult(wrong).Content), nil
	}
	if t, ok := a.lookup(action.Tool); ok {
		return t.Call(ctx, action.ToolInput)
	}
	return a.callUnknown(ctx, tools.Call{ID: action.ToolID, Name: action.Tool, Arguments: argumentsAsJSON(action.ToolInput)})
}

// callUnknown sends a call of an unknown tool to the environment of the
// episode.
func (a *Agent) callUnknown(ctx context.Context, call tools.Call) (string, error) {
	a.config.Callbacks.HandleToolStart(ctx, string(call.Arguments))
	result, err := a.episode.call(ctx, call)
	if err != nil {
		a.config.Callbacks.HandleToolError(ctx, err)
		return "", &outageError{fmt.Errorf("calling %q: %w", clip(call.Name, 80), err)}
	}
	a.config.Callbacks.HandleToolEnd(ctx, string(result.Content))
	return string(result.Content), nil
}

func (o *Outcome) count(past []pastTurn) {
	o.Turns, o.Tokens = 0, 0
	for _, p := range past {
		if p.Number > 0 {
			o.Turns++
		}
		o.Tokens += p.Tokens
	}
}

// Play plays one episode with the tools of the episode instead of the agent's
// own. The conversation begins with the prompt of the task, and the final
// answer is sent to the environment as a message. An exhausted budget ends the
// episode without an error.
func (a *Agent) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	player, err := a.withEpisode(ctx, caller)
	if err != nil {
		return err
	}
	opening, err := promptMessages(task)
	if err != nil {
		return err
	}
	outcome, err := player.run(ctx, task.ID, player.withSystem(opening...))
	if errors.Is(err, ErrBudget) {
		return nil
	}
	if err != nil || episodeDone(player.guarded) {
		return err
	}
	speaker, ok := caller.(tools.Speaker)
	if !ok {
		return nil
	}
	if _, err := speaker.Say(ctx, outcome.Output); err != nil {
		return &outageError{fmt.Errorf("sending the final answer: %w", err)}
	}
	return nil
}

// promptMessages converts the prompt of a task.
func promptMessages(task tools.Task) ([]llms.MessageContent, error) {
	roles := map[string]llms.ChatMessageType{
		"system": llms.ChatMessageTypeSystem, "user": llms.ChatMessageTypeHuman, "assistant": llms.ChatMessageTypeAI,
	}
	messages := make([]llms.MessageContent, len(task.Prompt))
	for i, m := range task.Prompt {
		role, ok := roles[m.Role]
		if !ok {
			return nil, fmt.Errorf("the prompt of %s has the unknown role %q; expected system, user or assistant", task.ID, m.Role)
		}
		messages[i] = llms.TextParts(role, m.Content)
	}
	return messages, nil
}

// turn is one message of the model. Its calls belong together, and the model
// must see them together in the conversation. An executor of langchaingo keeps
// only a list of steps, one per call. Therefore every step of a turn has the
// whole turn in its Log, as JSON, and an [Agent] needs no memory between its
// plans.
type turn struct {
	Number   int             `json:"turn"` // from 1
	Content  string          `json:"content,omitempty"`
	Calls    []requestedCall `json:"calls"`
	FromText bool            `json:"from_text,omitempty"` // the calls are in Content
	Began    time.Time       `json:"began"`               // when the run began

	Prompted int    `json:"prompted,omitempty"` // tokens of the prompt
	Tokens   int    `json:"tokens,omitempty"`   // tokens generated
	Reason   string `json:"reason,omitempty"`   // why it stopped
}

// requestedCall is a call as the model wrote it; Arguments need not be JSON.
// Fault says why the call cannot be made, and is returned to the model as the
// result.
type requestedCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Fault     string `json:"fault,omitempty"`
}

// actions converts the calls for an executor. An executor ignores the case of
// names and must not find a tool for a call with a fault, so the name of such a
// call gets a suffix that no tool has.
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

// fault returns the fault of an action's call; "" without one.
func fault(action schema.AgentAction) string {
	t, _ := turnOf(action)
	for _, call := range t.Calls {
		if call.ID == action.ToolID {
			return call.Fault
		}
	}
	return ""
}

// turnOf decodes the turn in the log of an action.
func turnOf(action schema.AgentAction) (turn, bool) {
	var t turn
	if !strings.HasPrefix(action.Log, `{"turn":`) {
		return t, false
	}
	err := json.Unmarshal([]byte(action.Log), &t)
	return t, err == nil && t.Number > 0
}

// pastTurn is a turn with the results of its calls. A turn that an executor
// made of an error, and not of a message of the model, has only observations.
type pastTurn struct {
	turn
	observations []string // one per call that was made, in order
}

// turnsOf groups the steps of a run into turns.
func turnsOf(steps []schema.AgentStep) []pastTurn {
	var all []pastTurn
	for _, step := range steps {
		t, ok := turnOf(step.Action)
		last := len(all) - 1
		if !ok || last < 0 || all[last].Number != t.Number {
			all = append(all, pastTurn{turn: t})
			last++
		}
		all[last].observations = append(all[last].observations, step.Observation)
	}
	return all
}

// messages converts a turn for the conversation: the message of the model and a
// result per call. Calls that the model wrote as text are sent back as that
// text.
func (p pastTurn) messages() []llms.MessageContent {
	if p.Number == 0 {
		return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, p.observations...)}
	}
	said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if p.Content != "" {
		said.Parts = append(said.Parts, llms.TextPart(p.Content))
	}
	results := make([]llms.MessageContent, 0, len(p.Calls))
	for i, call := range p.Calls {
		if !p.FromText {
			said.Parts = append(said.Parts, llms.ToolCall{ID: call.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: call.Arguments}})
		}
		answer := string(errorResult(call.Fault).Content)
		if call.Fault == "" && i < len(p.observations) {
			answer = p.observations[i]
		} else if call.Fault == "" {
			answer = string(errorResult("this call was not made").Content)
		}
		results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: answer}}})
	}
	return append([]llms.MessageContent{said}, results...)
}

// readChoice reads the calls of a message into the turn. Calls in the text are
// read only if there are no structured calls. The output is the text for the
// user if there are no calls; it is an error if that is empty as well.
func (a *Agent) readChoice(ctx context.Context, choice *llms.ContentChoice, next *turn) (output string, err error) {
	next.fill(choice)
	for _, call := range choice.ToolCalls {
		if f := call.FunctionCall; f != nil {
			next.Calls = append(next.Calls, requestedCall{call.ID, f.Name, f.Arguments, a.unknown(f.Name)})
		}
	}
	if f := choice.FuncCall; f != nil && len(next.Calls) == 0 {
		next.Calls = append(next.Calls, requestedCall{"", f.Name, f.Arguments, a.unknown(f.Name)})
	}
	if len(next.Calls) == 0 {
		output, err = a.readText(ctx, choice, next)
	}
	next.assignIDs()
	if err == nil && len(next.Calls) == 0 && strings.TrimSpace(output) == "" {
		err = &emptyError{next.Tokens, choice.StopReason}
	}
	return output, err
}

// fill copies text, stop reason and token counts of a message.
func (t *turn) fill(choice *llms.ContentChoice) {
	t.Content, t.Reason = choice.Content, choice.StopReason
	t.Prompted, _ = choice.GenerationInfo["PromptTokens"].(int)
	t.Tokens, _ = choice.GenerationInfo["CompletionTokens"].(int)
}

// emptyError reports a message without calls and without text. If the model
// generated tokens for it, the server lost them.
type emptyError struct {
	tokens int
	reason string
}

func (e *emptyError) Error() string {
	return fmt.Sprintf("%s: empty message: no call and no text (%d tokens, stop reason %q)", agents.ErrUnableToParseOutput, e.tokens, e.reason)
}

func (e *emptyError) Unwrap() error { return agents.ErrUnableToParseOutput }

// assignIDs sets the id of each call that has none.
func (t *turn) assignIDs() {
	for i := range t.Calls {
		if t.Calls[i].ID == "" {
			t.Calls[i].ID = fmt.Sprintf("call_%d_%d", t.Number, i+1)
		}
	}
}

// readText reads calls in the text. An attempt that cannot be read becomes a
// call with a fault, so that the model can try again.
func (a *Agent) readText(ctx context.Context, choice *llms.ContentChoice, next *turn) (output string, err error) {
	input := parse.Input{Text: &choice.Content, Family: a.config.Family, FinishReason: choice.StopReason}
	var reading parse.Reading
	if err := a.reader.ReadInto(ctx, &reading, input); err != nil {
		return "", fmt.Errorf("reading the model's text: %w", err)
	}
	for _, attempt := range reading.Attempts {
		call := requestedCall{attempt.ID, attempt.Name, string(attempt.Arguments), a.unknown(attempt.Name)}
		if !attempt.Counts() {
			call.Arguments, call.Fault = attempt.Raw, "this call cannot be read: "+defects(attempt)
		}
		next.Calls, next.FromText = append(next.Calls, call), true
	}
	return reading.Content, nil
}

// callInError looks for a call in the error message of a server that could not
// read it. That is a mistake of the model, which it can correct, so the turn
// gets a call with a fault. Any other error is returned.
func (a *Agent) callInError(ctx context.Context, failure error, next *turn) error {
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
	var reading parse.Reading
	if err := a.reader.ReadInto(ctx, &reading, parse.Input{Message: body}); err != nil || len(reading.Attempts) == 0 {
		return failure
	}
	first := reading.Attempts[0]
	next.Content, next.FromText = first.Raw, true
	next.Calls = []requestedCall{{first.ID, first.Name, first.Raw, "this call cannot be read: " + message}}
	next.assignIDs()
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
