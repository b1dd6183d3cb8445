package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"

	"toolgym/grpo/parse"
)

// read takes an answer into the turn: its calls, those that are written as text
// only where it has no others. The output is what a user sees of an answer
// without calls; that must be something.
func (a *Agent) read(ctx context.Context, choice *llms.ContentChoice, next *turn) (output string, err error) {
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
		output, err = a.spell(ctx, choice, next)
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
func (a *Agent) spell(ctx context.Context, choice *llms.ContentChoice, next *turn) (output string, err error) {
	input := parse.Input{Text: &choice.Content, Family: a.config.Family, FinishReason: choice.StopReason}
	var reading parse.Reading
	if err := a.reader.ReadInto(ctx, &reading, input); err != nil {
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
func (a *Agent) quoted(ctx context.Context, failure error, next *turn) error {
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
