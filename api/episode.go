package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"toolgym/api/client"
	"toolgym/internal/store"
	"toolgym/tools"
)

// An episode is a live one: its task, its steps so far, and an Env that has
// made them. The steps are the truth; the Env can be made again from them at
// any time, and is, whenever a step did not end well.
type episode struct {
	id       string
	owner    string // name of the token that it belongs to; empty without tokens
	begun    time.Time
	spec     tools.Spec
	task     tools.Task
	maxSteps int
	ledger   *ledger

	// turn holds one token. Its holder may use env and add a step;
	// no lock is held while a slow environment works.
	turn chan struct{}
	env  tools.Env // nil when it has to be made again
	torn bool      // the ledger may know more than path does

	mu       sync.Mutex // guards what follows, for moments only
	path     tools.Trajectory
	tools    tools.Set
	answered map[string]int // request id → number of its step
	closed   error          // why no further step is taken
	size     int64          // bytes that the steps take, about
}

// A move is what the agent does: a call, or a message where the call is zero.
type move struct {
	call    tools.Call
	message string
	request string // the request id; may be empty
}

// begin starts the episode with the given moves behind it; a fork has some, and
// one that is brought back.
func (e *episode) begin(ctx context.Context, moves []store.Move) error {
	e.turn, e.answered = make(chan struct{}, 1), map[string]int{}
	e.path = tools.Trajectory{Task: e.task, Steps: []tools.Step{}}
	env, observation, err := e.replay(ctx, stepsOf(moves))
	if err != nil {
		return err
	}
	e.env, e.path.Observation, e.tools, e.path.Success = env, observation, nonNil(env.Tools()), env.Success()
	for _, m := range moves {
		e.keep(m, env.Success())
	}
	return nil
}

func stepsOf(moves []store.Move) []tools.Step {
	steps := make([]tools.Step, len(moves))
	for i, m := range moves {
		steps[i] = m.Step
	}
	return steps
}

// replay makes an Env that has made the given steps. The same task and the same
// calls give the same steps; an environment that does otherwise is at fault.
func (e *episode) replay(ctx context.Context, steps []tools.Step) (tools.Env, json.RawMessage, error) {
	env := e.spec.New()
	observation, err := env.Reset(ctx, e.task)
	if err != nil {
		return nil, nil, fmt.Errorf("resetting %s to %s: %w", e.spec.Name, e.task.ID, err)
	}
	for i, want := range steps {
		got, err := e.advance(ctx, env, i, move{call: want.Call, message: want.Message})
		if err != nil {
			return nil, nil, fmt.Errorf("replaying step %d of %s: %w", i+1, e.task.ID, err)
		}
		if !reflect.DeepEqual(got, want) {
			return nil, nil, fmt.Errorf("replaying step %d of %s gave another step than before", i+1, e.task.ID)
		}
	}
	return env, observation, nil
}

// advance makes one step, the one after made others. What was done is what was
// asked for, whatever the environment writes there.
func (e *episode) advance(ctx context.Context, env tools.Env, made int, m move) (tools.Step, error) {
	step, err := apply(ctx, env, m)
	if err != nil {
		return tools.Step{}, err
	}
	if made+1 >= e.maxSteps && !step.Done() {
		step = tools.Truncation(step.Call, step.Result, step.Reward)
	}
	step.Call, step.Message = m.call, m.message
	return step, nil
}

// apply hands a move to the environment. What is said to one that does not
// judge it is recorded and changes nothing, as tools.Rollout has it.
func apply(ctx context.Context, env tools.Env, m move) (tools.Step, error) {
	if m.call.Name != "" {
		return env.Step(ctx, m.call)
	}
	if speaker, ok := env.(tools.Speaker); ok {
		return speaker.Say(ctx, m.message)
	}
	return tools.Transition(tools.Call{}, tools.Result{}, 0).Spoken(m.message), nil
}

// play makes a move, once: a request id that has been answered is answered
// again. A move that has begun is finished even when the client hangs up.
func (e *episode) play(ctx context.Context, m move, limit time.Duration) (client.Answer, error) {
	running, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer stop()
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return client.Answer{}, fmt.Errorf("waiting for the call before this one: %w", ctx.Err())
	case <-running.Done():
		return client.Answer{}, fmt.Errorf("waiting for the call before this one: %w", running.Err())
	}
	if err := e.mend(running); err != nil {
		return client.Answer{}, err
	}
	if answer, known, err := e.recall(m); known || err != nil {
		return answer, err
	}
	return e.step(running, m)
}

// recall answers a request id that is known, and refuses a move that may not be
// made.
func (e *episode) recall(m move) (answer client.Answer, known bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.answered[m.request]; ok && m.request != "" {
		if !same(e.path.Steps[n-1], m) {
			return client.Answer{}, true, &tools.Error{Code: tools.Conflict, Where: "request_id", Message: fmt.Sprintf("this request_id was another call, step %d", n), Want: "a new request_id for a new call"}
		}
		return answerOf(e.path.Steps[n-1], n), true, nil
	}
	switch {
	case e.closed != nil:
		return client.Answer{}, false, e.closed
	case e.path.Terminated || e.path.Truncated:
		return client.Answer{}, false, &tools.Error{Code: tools.Conflict, Message: fmt.Sprintf("the episode ended with step %d", len(e.path.Steps)), Want: "a new episode"}
	}
	return client.Answer{}, false, nil
}

// mend reads the moves again after one that may or may not have been kept.
func (e *episode) mend(ctx context.Context) error {
	if !e.torn {
		return nil
	}
	kept, err := e.ledger.read(ctx, e.id)
	if err != nil {
		return err
	}
	again := &episode{id: e.id, spec: e.spec, task: e.task, maxSteps: e.maxSteps}
	if err := again.begin(ctx, kept.Moves); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.env, e.path, e.answered, e.size, e.torn = again.env, again.path, again.answered, again.size, false
	return nil
}

// step makes the move. The Env is put back only after a step that ended well;
// after an error, a panic or a time-out nothing is known of its state. The step
// counts when the ledger has it.
func (e *episode) step(ctx context.Context, m move) (client.Answer, error) {
	env, made := e.env, e.steps()
	e.env = nil
	if env == nil {
		var err error
		if env, _, err = e.replay(ctx, made); err != nil {
			return client.Answer{}, err
		}
	}
	step, err := e.advance(ctx, env, len(made), m)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return client.Answer{}, fmt.Errorf("stepping %s: %w", e.task.ID, err)
	}
	move := store.Move{Step: step, Request: m.request, Made: e.ledger.now()}
	if err := e.ledger.add(ctx, e.id, len(made)+1, move); err != nil {
		e.torn = true
		return client.Answer{}, err
	}
	e.env = env
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(move, env.Success())
	return answerOf(step, len(e.path.Steps)), nil
}

// keep adds a move. The caller holds mu, or is the only one who knows e.
func (e *episode) keep(m store.Move, success bool) {
	step := m.Step
	e.path.Steps = append(e.path.Steps, step)
	if m.Request != "" {
		e.answered[m.Request] = len(e.path.Steps)
	}
	e.path.Return += step.Reward
	e.path.Terminated, e.path.Truncated, e.path.Success = step.Terminated, step.Truncated, success
	const overhead = 256 // of a Step, its slices and a request id
	e.size += int64(overhead + len(step.Call.Name) + len(step.Call.Arguments) + len(step.Message) + len(step.Result.Content))
}

// trajectory is the path so far. Steps are only ever added, so that those of
// the copy may be read without the lock.
func (e *episode) trajectory() tools.Trajectory {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := e.path
	path.Steps = slices.Clip(path.Steps)
	return path
}

func (e *episode) steps() []tools.Step { return e.trajectory().Steps }

// close says why no further step is taken. One that is running is finished.
func (e *episode) close(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = why
}

// weight is about how many bytes the steps take.
func (e *episode) weight() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.size
}

// done reports whether the episode has come to its end.
func (e *episode) done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.path.Terminated || e.path.Truncated
}

// same reports whether a move is the one that a step was made by; blanks in
// the arguments do not matter.
func same(step tools.Step, m move) bool {
	if step.Call.Name != m.call.Name || step.Message != m.message {
		return false
	}
	return bytes.Equal(compact(step.Call.Arguments), compact(m.call.Arguments))
}

func compact(arguments json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, arguments) != nil {
		return arguments
	}
	return b.Bytes()
}

func answerOf(step tools.Step, n int) client.Answer {
	answer := client.Answer{Reward: step.Reward, Terminated: step.Terminated, Truncated: step.Truncated, Step: n}
	if step.Call.Name != "" {
		answer.Result = &step.Result
	}
	return answer
}
