package client

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"toolgym/tools"
)

// An Episode is a live episode on the server. Its methods also return not_found
// after it was closed and gone after it has expired.
type Episode struct {
	client *Client
	state  State // at the start
}

var (
	_ tools.Caller  = (*Episode)(nil)
	_ tools.Speaker = (*Episode)(nil)
)

// ID returns the id of the episode.
func (e *Episode) ID() string { return e.state.ID }

// Task returns the task.
func (e *Episode) Task() tools.Task { return e.state.Task }

// Observation returns the first observation, a JSON object.
func (e *Episode) Observation() json.RawMessage { return e.state.Observation }

// Tools returns the tools of the task in their order. They validate arguments;
// calls are made by Step.
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

// Say sends a message without calls, exactly once. It returns the errors of
// Step.
func (e *Episode) Say(ctx context.Context, text string) (tools.Step, error) {
	answer, err := e.play(ctx, "messages", Message{Content: text, RequestID: e.client.config.NewID()})
	if err != nil {
		return tools.Step{}, err
	}
	return stepOf(answer, tools.Call{}).Spoken(text), nil
}

func (e *Episode) play(ctx context.Context, kind string, body any) (Answer, error) {
	var answer Answer
	err := e.client.send(ctx, request{method: http.MethodPost, to: e.at(kind), body: body, repeat: true}, &answer)
	return answer, err
}

// stepOf converts an answer to a step.
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

// State requests the current state of the episode, with its trajectory.
func (e *Episode) State(ctx context.Context) (State, error) {
	return e.client.state(ctx, request{method: http.MethodGet, to: e.at(), repeat: true})
}

// Trajectory requests the steps so far.
func (e *Episode) Trajectory(ctx context.Context) (tools.Trajectory, error) {
	state, err := e.State(ctx)
	if err != nil || state.Trajectory == nil {
		return tools.Trajectory{Task: e.state.Task}, err
	}
	return *state.Trajectory, nil
}

// Fork copies the episode in its current state.
func (e *Episode) Fork(ctx context.Context) (*Episode, error) {
	return e.client.open(ctx, request{method: http.MethodPost, to: e.at("fork")})
}

// Close deletes the episode on the server.
func (e *Episode) Close(ctx context.Context) error {
	return e.client.send(ctx, request{method: http.MethodDelete, to: e.at()}, nil)
}

func (e *Episode) at(parts ...string) string {
	return e.client.at(append([]string{"v1", "episodes", e.state.ID}, parts...)...)
}

// toolSetCache keeps decoded tool sets. Every episode of a level has the same
// bytes, and compiling its schemas again would take longer than playing it.
type toolSetCache struct {
	mu    sync.Mutex
	known map[string]tools.Set
	bytes int // of texts and compiled schemas
}

// maxToolSetBytes limits the size of the cache: texts and compiled schemas. A
// larger list is not kept.
const maxToolSetBytes = 64 << 20

// decode decodes a tool set. The set is shared and must not be changed.
func (t *toolSetCache) decode(text json.RawMessage) (tools.Set, error) {
	t.mu.Lock()
	set, ok := t.known[string(text)]
	t.mu.Unlock()
	if ok {
		return set, nil
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	size := len(text) + set.Memory()
	if _, ok := t.known[string(text)]; ok || size > maxToolSetBytes {
		return set, nil
	}
	if t.bytes += size; t.bytes > maxToolSetBytes || t.known == nil {
		t.known, t.bytes = map[string]tools.Set{}, size
	}
	t.known[string(text)] = set
	return set, nil
}
