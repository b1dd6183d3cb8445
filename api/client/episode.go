package client

import (
	"context"
	"encoding/json"
	"net/http"

	"toolgym/tools"
)

// An Episode is a live one on the server. Its methods return, besides what they
// say, not_found after it was closed and gone after it has expired.
type Episode struct {
	client *Client
	state  State // as of the beginning
}

var (
	_ tools.Caller  = (*Episode)(nil)
	_ tools.Speaker = (*Episode)(nil)
)

// ID is the server's name for the episode.
func (e *Episode) ID() string { return e.state.ID }

// Task is what is to be solved.
func (e *Episode) Task() tools.Task { return e.state.Task }

// Observation is what was observed first, a JSON object.
func (e *Episode) Observation() json.RawMessage { return e.state.Observation }

// Tools lists the tools of the task in their fixed order. They can check
// arguments, but are called by Step.
func (e *Episode) Tools() tools.Set { return e.state.Tools }

// Step makes one call, exactly once. A call after the end is a conflict.
func (e *Episode) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	body := Call{Name: call.Name, Arguments: call.Arguments, RequestID: e.client.config.NewID()}
	answer, err := e.play(ctx, "calls", body)
	if err != nil {
		return tools.Step{}, err
	}
	return stepOf(answer, call), nil
}

// Say says something and calls nothing, exactly once. Errors as of Step.
func (e *Episode) Say(ctx context.Context, text string) (tools.Step, error) {
	answer, err := e.play(ctx, "messages", Message{Content: text, RequestID: e.client.config.NewID()})
	if err != nil {
		return tools.Step{}, err
	}
	return stepOf(answer, tools.Call{}).Spoken(text), nil
}

func (e *Episode) play(ctx context.Context, how string, body any) (Answer, error) {
	var answer Answer
	err := e.client.send(ctx, request{method: http.MethodPost, to: e.at(how), body: body, repeat: true}, &answer)
	return answer, err
}

// stepOf is the step that an answer tells of.
func stepOf(answer Answer, call tools.Call) tools.Step {
	result := tools.Result{}
	if answer.Result != nil {
		result = *answer.Result
	}
	switch {
	case answer.Terminated:
		return tools.Termination(call, result, answer.Reward)
	case answer.Truncated:
		return tools.Truncation(call, result, answer.Reward)
	}
	return tools.Transition(call, result, answer.Reward)
}

// State asks for the episode as it stands, with its trajectory.
func (e *Episode) State(ctx context.Context) (State, error) {
	return e.client.state(ctx, request{method: http.MethodGet, to: e.at(), repeat: true})
}

// Trajectory asks for the episode as it was played so far.
func (e *Episode) Trajectory(ctx context.Context) (tools.Trajectory, error) {
	state, err := e.State(ctx)
	if err != nil || state.Trajectory == nil {
		return tools.Trajectory{Task: e.state.Task}, err
	}
	return *state.Trajectory, nil
}

// Fork copies the episode, to go on from where it is.
func (e *Episode) Fork(ctx context.Context) (*Episode, error) {
	return e.client.open(ctx, request{method: http.MethodPost, to: e.at("fork")})
}

// Close makes the server forget the episode.
func (e *Episode) Close(ctx context.Context) error {
	return e.client.send(ctx, request{method: http.MethodDelete, to: e.at()}, nil)
}

func (e *Episode) at(parts ...string) string {
	return e.client.at(append([]string{"v1", "episodes", e.state.ID}, parts...)...)
}
