package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/internal/episode"
	"toolgym/tools"
)

// mostCalls is the limit of an episode with typed tools.
const mostCalls = 16

// env is the environment as language models see it.
type env struct {
	turns episode.Turns
	game  game
	set   tools.Set
}

var (
	_ tools.Env     = (*env)(nil)
	_ tools.Speaker = (*env)(nil)
)

// A game is what differs between the kinds of task.
type game interface {
	// observe is what is seen first, to be encoded as a JSON object.
	observe() any
	// call makes a call; ended tells that the task has come to its end.
	call(ctx context.Context, call tools.Call) (result tools.Result, reward float64, ended bool, err error)
	// say takes a message without calls.
	say(text string) (reward float64, ended bool)
	success() bool
}

func (e *env) Tools() tools.Set { return e.set }

func (e *env) Success() bool { return e.game != nil && e.game.success() }

// Reset refuses a task that is not this environment's, and then leaves the
// running episode as it is.
func (e *env) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if err := episode.Of(name, task); err != nil {
		return nil, err
	}
	if err := check(task.Rules, task.Level); err != nil {
		return nil, err
	}
	game, limit, err := newGame(task)
	if err != nil {
		return nil, err
	}
	observation, err := json.Marshal(game.observe())
	if err != nil {
		return nil, fmt.Errorf("encoding the observation: %w", err)
	}
	e.game, e.set = game, offered(task.Rules, task.Level)
	e.turns.Begin(limit)
	return observation, nil
}

func newGame(task tools.Task) (g game, limit int, err error) {
	switch {
	case task.Level == restraint:
		return &silence{}, mostCalls, nil
	case task.Rules == tools.Documented:
		m := NewDocumented(problemOf(task.Level, task.Seed))
		return &exposed{machine: m}, DocumentedLimit, nil
	}
	bench, err := newWorkbench(task.Level, problemOf(task.Level, task.Seed))
	return bench, mostCalls, err
}

func (e *env) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := e.turns.Open(); err != nil {
		return tools.Step{}, err
	}
	result, reward, ended, err := e.game.call(ctx, call)
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s: %w", call.Name, err)
	}
	return e.turns.Take(call, result, reward, ended), nil
}

// Say takes a message without calls. It spends a step like a call, so that an
// agent which only talks comes to the limit too. At level restraint the first
// message ends the episode; at the others it changes nothing.
func (e *env) Say(_ context.Context, text string) (tools.Step, error) {
	if err := e.turns.Open(); err != nil {
		return tools.Step{}, err
	}
	reward, ended := e.game.say(text)
	return e.turns.Take(tools.Call{}, tools.Result{}, reward, ended).Spoken(text), nil
}
