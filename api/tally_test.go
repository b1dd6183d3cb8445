package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"toolgym/tools"
)

// tally is a small environment of these tests: add numbers up to the seed, then
// say done. Its tool break fails in every way that an environment can.
type tally struct {
	task       tools.Task
	sum, steps int
	ended      bool
	faults     *tallyFaults
	set        tools.Set // declared once, bound to this state
}

var (
	_ tools.Env     = (*tally)(nil)
	_ tools.Speaker = (*tally)(nil)
)

// tallyFaults lets a test hold an environment in the middle of a step.
type tallyFaults struct {
	entered chan struct{} // receives a value when a step waits
	release chan struct{} // lets it go on
}

const tallyLimit = 6

type tallyAdd struct {
	N int `json:"n" jsonschema:"minimum=0,maximum=100"`
}

type tallyBreak struct {
	How string `json:"how" jsonschema:"enum=error,enum=panic,enum=wait"`
}

type tallySum struct {
	Sum int `json:"sum"`
}

type tallySquare struct {
	X int `json:"x" jsonschema:"minimum=-1000,maximum=1000"`
}

func tallyTools() tools.Set {
	return tools.Set{
		tools.New[tallyAdd, tallySum]("add", "Adds to the sum.", nil),
		tools.New[struct{}, tallySum]("done", "Ends the task.", nil),
		tools.New[tallyBreak, tallySum]("break", "Fails.", nil),
		tools.New("square", "Squares a number.", func(_ context.Context, in tallySquare) (map[string]int, error) {
			if in.X == 13 {
				return nil, errors.New("the number on the disk of the secret host is 13")
			}
			return map[string]int{"result": in.X * in.X}, nil
		}),
	}
}

func tallySpec(faults *tallyFaults) tools.Spec {
	set := tallyTools()
	return tools.Spec{
		Name: "tally", Description: "Add up to a number.",
		Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"0", "spoken", "endless"},
		Tools: func(string, string) tools.Set { return set },
		NewTask: func(_, _ string, seed uint64) (tools.Task, error) {
			return tools.Task{Prompt: []tools.Message{{Role: "user", Content: fmt.Sprintf("Add up to %d.", seed)}}}, nil
		},
		New: func() tools.Env { return newTally(set, faults) },
	}
}

func newTally(declared tools.Set, faults *tallyFaults) *tally {
	e := &tally{faults: faults, set: slices.Clone(declared)}
	e.set[0] = tools.Bind(e.set[0], func(_ context.Context, in tallyAdd) (tallySum, error) {
		e.sum += in.N
		return tallySum{e.sum}, nil
	})
	e.set[1] = tools.Bind(e.set[1], func(context.Context, struct{}) (tallySum, error) {
		e.ended = true
		return tallySum{e.sum}, nil
	})
	e.set[2] = tools.Bind(e.set[2], func(ctx context.Context, in tallyBreak) (tallySum, error) { return e.fail(ctx, in.How) })
	return e
}

func (e *tally) Tools() tools.Set { return e.set }
func (e *tally) Success() bool    { return e.ended && e.sum == int(e.task.Seed) }

func (e *tally) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	e.task, e.sum, e.steps, e.ended = task, 0, 0, false
	return json.RawMessage(`{"sum":0}`), nil
}

func (e *tally) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	e.steps++
	result, err := e.set.Call(ctx, call)
	switch {
	case err != nil:
		return tools.Step{}, err
	case e.Success():
		return tools.Termination(call, result, 1), nil
	case e.ended:
		return tools.Termination(call, result, 0), nil
	case e.steps >= tallyLimit && e.task.Level != "endless":
		return tools.Truncation(call, result, 0), nil
	}
	return tools.Transition(call, result, -0.1), nil
}

// fail spoils the state first, so that a test sees whether it was mended.
func (e *tally) fail(ctx context.Context, how string) (tallySum, error) {
	e.sum = -1000
	switch how {
	case "panic":
		panic("the secret of the environment")
	case "wait":
		e.sum = 0
		if e.faults != nil {
			e.faults.entered <- struct{}{}
			<-e.faults.release
			return tallySum{}, nil
		}
		<-ctx.Done()
		return tallySum{}, ctx.Err()
	}
	return tallySum{}, errors.New("the secret path /etc/tally cannot be read")
}

func (e *tally) Say(_ context.Context, text string) (tools.Step, error) {
	e.steps++
	if e.task.Level != "spoken" {
		return tools.Transition(tools.Call{}, tools.Result{}, 0).Spoken(text), nil
	}
	e.ended, e.sum = true, int(e.task.Seed)
	return tools.Termination(tools.Call{}, tools.Result{}, 1).Spoken(text), nil
}
