package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"toolgym/tools"
)

// countdown is a small environment: call "down" until nothing is left.
type countdown struct {
	left, limit int
	started     bool
	set         tools.Set
}

type none struct{}

type leftOver struct {
	Left int `json:"left"`
}

func newCountdown() tools.Env {
	c := &countdown{}
	c.set = tools.Set{tools.New("down", "Counts down.", func(context.Context, none) (leftOver, error) {
		c.left--
		return leftOver{c.left}, nil
	})}
	return c
}

func (c *countdown) Tools() tools.Set { return c.set }
func (c *countdown) Success() bool    { return c.started && c.left == 0 }

func (c *countdown) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	c.left, c.limit, c.started = int(task.Seed%3)+1, 4, true
	return json.RawMessage(`{}`), nil
}

func (c *countdown) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if c.limit == 0 || c.left == 0 {
		return tools.Step{}, &tools.Error{Code: tools.Conflict, Message: "over"}
	}
	result, err := c.set.Call(ctx, call)
	if err != nil {
		return tools.Step{}, err
	}
	c.limit--
	switch {
	case c.left == 0:
		return tools.Termination(call, result, 1), nil
	case c.limit == 0:
		return tools.Truncation(call, result, 0), nil
	}
	return tools.Transition(call, result, -0.25), nil
}

func specs() tools.Specs {
	return tools.Specs{{
		Name: "countdown", Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"0", "large"},
		Tools: func(string, string) tools.Set { return newCountdown().Tools() },
		NewTask: func(_, _ string, seed uint64) (tools.Task, error) {
			return tools.Task{Prompt: []tools.Message{{Role: "user", Content: strconv.FormatUint(seed, 10)}}}, nil
		},
		New: newCountdown,
	}}
}

func TestTaskOfAnID(t *testing.T) {
	for _, id := range []string{"countdown/0/0", "countdown/large/18446744073709551615", "countdown/0/7@documented"} {
		t.Run(id, func(t *testing.T) {
			_, task, err := specs().Task(id)
			if err != nil || task.ID != id {
				t.Errorf("got %+v, %v", task, err)
			}
		})
	}
}

func TestTaskOfAMalformedID(t *testing.T) {
	tests := []struct{ id, code, want string }{
		{"", tools.Invalid, "env/level/seed"},
		{"countdown", tools.Invalid, "env/level/seed"},
		{"countdown/0", tools.Invalid, "env/level/seed"},
		{"countdown//0", tools.Invalid, "env/level/seed"},
		{"countdown/0/1/2", tools.Invalid, "env/level/seed"},
		{"countdown/0/1@sound", tools.Invalid, "@documented"},
		{"countdown/0/1@", tools.Invalid, "@documented"},
		{"countdown/0/-1", tools.Invalid, "18446744073709551615"},
		{"countdown/0/18446744073709551616", tools.Invalid, "18446744073709551615"},
		{"countdown/0/01", tools.Invalid, "plain digits"},
		{"countdown/0/1e3", tools.Invalid, "plain digits"},
		{"countdown/9/1", tools.Invalid, "one of 0, large"},
		{"Countdown/0/1", tools.NotFound, "one of countdown"},
		{strings.Repeat("x", 1<<20), tools.Invalid, "env/level/seed"},
	}
	for _, test := range tests {
		t.Run(test.id[:min(40, len(test.id))], func(t *testing.T) {
			_, _, err := specs().Task(test.id)
			var e *tools.Error
			if !errors.As(err, &e) || e.Code != test.code || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 400 {
				t.Errorf("error %v, want code %s and %q", err, test.code, test.want)
			}
		})
	}
}

func TestDefaultRulesAndLevel(t *testing.T) {
	task, err := specs()[0].Task("", "", math.MaxUint64)
	if err != nil || task.ID != "countdown/0/18446744073709551615" || task.Rules != tools.Sound {
		t.Errorf("got %+v, %v", task, err)
	}
}
