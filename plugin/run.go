package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

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
