package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
)

// Plan asks the model what to do next: some calls, or a finish. What the
// options set wins over the agent's own options. An empty answer is an
// agents.ErrUnableToParseOutput, which an executor's error handler may turn
// into an observation; a used-up budget is an [ErrBudget].
func (a *Agent) Plan(ctx context.Context, steps []schema.AgentStep, inputs map[string]string, options ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	opening, err := a.beginning(inputs)
	if err != nil {
		return nil, nil, err
	}
	return a.plan(ctx, opening, turns(steps), chains.GetLLMCallOptions(options...))
}

func (a *Agent) plan(ctx context.Context, opening []llms.MessageContent, past []played, options []llms.CallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if over(a.guarded) {
		return nil, finish(lastObservation(past), episodeOver), nil
	}
	now := a.config.Clock()
	if err := a.config.Budget.spent(past, now); err != nil {
		return nil, nil, err
	}
	conversation := opening
	for _, p := range past {
		conversation = append(slices.Clip(conversation), p.messages()...)
	}
	next := turn{Number: number(past) + 1, Began: began(past, now)}
	var output string
	choice, err := a.ask(ctx, conversation, options, a.left(past, now))
	if err == nil {
		output, err = a.read(ctx, choice, &next)
	} else {
		err = a.quoted(ctx, err, &next)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case len(next.Calls) > 0:
		actions, err := next.actions()
		return actions, nil, err
	}
	return nil, finish(output, next.Content), nil
}

// ask puts the conversation to the model, for as long as the budget lasts.
func (a *Agent) ask(ctx context.Context, conversation []llms.MessageContent, options []llms.CallOption, left time.Duration) (*llms.ContentChoice, error) {
	all := append(append(slices.Clone(a.config.Options), options...), a.streaming())
	if len(a.offered) > 0 {
		all = append(all, llms.WithTools(a.offered))
	}
	bounded := ctx
	if left > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeoutCause(ctx, left, ErrBudget)
		defer cancel()
	}
	response, err := a.config.Model.GenerateContent(bounded, conversation, all...)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), ErrBudget):
		return nil, fmt.Errorf("%w: %s, in the middle of an answer", ErrBudget, a.config.Budget.Time)
	case err != nil:
		return nil, fmt.Errorf("asking the model: %w", err)
	case response == nil || len(response.Choices) == 0 || response.Choices[0] == nil:
		return nil, fmt.Errorf("%w: the model gave no choice", agents.ErrUnableToParseOutput)
	}
	return response.Choices[0], nil
}

// streaming gives the agent's own streaming function back, where the options of
// a chain have taken it away: they set one whether or not they have one.
func (a *Agent) streaming() llms.CallOption {
	own := applied(a.config.Options).StreamingFunc
	return func(o *llms.CallOptions) {
		if o.StreamingFunc == nil {
			o.StreamingFunc = own
		}
	}
}

// left is what the budget leaves of its time; 0 means that it has no bound.
func (a *Agent) left(past []played, now time.Time) time.Duration {
	if a.config.Budget.Time == 0 {
		return 0
	}
	return a.config.Budget.Time - now.Sub(began(past, now))
}

// episodeOver is the log of a finish that is not the model's word.
const episodeOver = "the episode is over"

func finish(output, log string) *schema.AgentFinish {
	return &schema.AgentFinish{ReturnValues: map[string]any{outputKey: output}, Log: log}
}

func lastObservation(past []played) string {
	if len(past) == 0 {
		return ""
	}
	seen := past[len(past)-1].observations
	return seen[len(seen)-1]
}

// number is that of the last turn.
func number(past []played) int {
	last := 0
	for _, p := range past {
		last = max(last, p.Number)
	}
	return last
}
