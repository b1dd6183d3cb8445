package envtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"toolgym/internal/episode"
	"toolgym/tools"
)

// counter is the environment under test: count up to the task's number, then
// submit. Level "hello" is solved by a message. A defect violates one requirement
// of the contract.
type counter struct {
	defect      string
	turns       episode.Turns
	task        tools.Task
	count, goal int
	done, right bool
	set         tools.Set
	made        int // number of this Env among those of its spec
}

type none struct{}

type state struct {
	Count int `json:"count"`
}

func goalOf(seed uint64) int { return 2 + int(seed%3) }

func declared() tools.Set {
	return tools.Set{
		tools.New[none, state]("increment", "Adds one.", nil),
		tools.New[none, state]("submit", "Ends the task.", nil),
	}
}

// spec describes the counter with one defect, or none if it is empty.
func spec(defect string) tools.Spec {
	set, made := declared(), new(atomic.Int32)
	s := tools.Spec{
		Name: "counter", Description: "Counts.", Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"count", "hello"},
		Tools: func(string, string) tools.Set { return set },
		New: func() tools.Env {
			return &counter{defect: defect, set: set, made: int(made.Add(1))}
		},
		NewTask: func(rules, level string, seed uint64) (tools.Task, error) {
			return newTask(defect, rules, level, seed)
		},
		Oracle:    solver{defect},
		Enumerate: func() tools.Enumerator { return &enumerator{defect: defect} },
	}
	applyDefect(&s, set, defect)
	return s
}

// applyDefect changes the spec if the defect is one of its description.
func applyDefect(s *tools.Spec, set tools.Set, defect string) {
	switch defect {
	case "duplicate tool name":
		s.Tools = func(string, string) tools.Set { return tools.Set{set[0], set[0]} }
	case "open schema":
		open, _ := tools.Declare("increment", "Adds one.", json.RawMessage(`{"type":"object"}`))
		s.Tools = func(string, string) tools.Set { return tools.Set{open, set[1]} }
	case "hidden tool":
		s.Tools = func(string, string) tools.Set { return set[:1] }
	case "no levels":
		s.Levels = []string{}
	case "shared Env":
		only := s.New()
		s.New = func() tools.Env { return only }
	}
}

func newTask(defect, rules, level string, seed uint64) (tools.Task, error) {
	if err := known(rules, level); err != nil && defect != "accepts any level" {
		return tools.Task{}, err
	}
	task := tools.Task{Prompt: []tools.Message{{Role: "user", Content: fmt.Sprintf("Count to %d.", goalOf(seed))}}, NeedsNoCall: level == "hello"}
	switch defect {
	case "no prompt":
		task.Prompt = nil
	case "blank prompt":
		task.Prompt[0].Content = " "
	case "optimum too large":
		task.Optimal = 100
	}
	return task, nil
}

// known returns an error for unknown names. The documented rules have one level.
func known(rules, level string) error {
	if level == "count" && slices.Contains([]string{tools.Sound, tools.Documented}, rules) || level == "hello" && rules == tools.Sound {
		return nil
	}
	return &tools.Error{Code: tools.Invalid, Message: "no such rules or level"}
}

func (c *counter) Tools() tools.Set { return c.set }

func (c *counter) Success() bool {
	return c.right || c.defect == "success before reset" || c.defect == "success by any message" && c.count < 0
}

func (c *counter) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if task.Env != "counter" && c.defect != "accepts any environment" {
		if c.defect == "failed reset ends the episode" {
			c.turns = episode.Turns{}
		}
		return nil, &tools.Error{Code: tools.Invalid, Message: "a task of another environment"}
	}
	if err := known(task.Rules, task.Level); err != nil && c.defect != "accepts any level" {
		return nil, err
	}
	previous := *c
	*c = counter{defect: c.defect, set: c.set, task: task, goal: goalOf(task.Seed)}
	if c.defect == "reset keeps state" {
		c.count = previous.count
	}
	c.turns.Begin(map[bool]int{true: 1 << 30, false: 12}[c.defect == "no limit"])
	switch c.defect {
	case "observation is a list":
		return json.RawMessage("[]"), nil
	case "depends on the Env":
		return json.RawMessage(fmt.Sprintf(`{"count":%d}`, previous.made)), nil
	}
	return json.RawMessage(`{"count":0}`), nil
}

func (c *counter) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := c.turns.CheckRunning(); err != nil && c.defect != "steps after the end" {
		return tools.Step{}, err
	}
	if c.defect == "fails on long arguments" && len(call.Arguments) > 1000 {
		return tools.Step{}, fmt.Errorf("out of memory")
	}
	if c.defect == "invalid calls count" && call.Name == "no such tool" {
		c.count++
	}
	result, err := c.run(ctx, call)
	if err != nil {
		return tools.Step{}, err
	}
	if result.IsError && c.defect == "invalid calls are free" {
		return tools.Transition(call, result, 0), nil
	}
	if c.defect == "terminates at the limit" && c.count == 0 && call.Name == "no such tool" {
		c.goal++
		return c.turns.Step(call, result, 0, c.goal > 8), nil
	}
	return c.turns.Step(call, result, 0, c.done || c.task.Level == "hello"), nil
}

func (c *counter) run(ctx context.Context, call tools.Call) (tools.Result, error) {
	if call.Name == "submit" && c.defect == "unknown listed tool" {
		return c.set[:1].Call(ctx, call)
	}
	if c.defect == "ignores arguments" {
		call.Arguments = nil
	}
	for _, tool := range c.set {
		if tool.Name == call.Name {
			return tools.Bind(tool, func(context.Context, none) (state, error) { return c.act(call.Name), nil }).Call(ctx, call.Arguments)
		}
	}
	return c.set.Call(ctx, call)
}

func (c *counter) act(tool string) state {
	if tool == "increment" {
		c.count++
	} else {
		c.done, c.right = true, c.count == c.goal && c.task.Level == "count"
	}
	return state{c.count}
}

func (c *counter) Say(_ context.Context, text string) (tools.Step, error) {
	if err := c.turns.CheckRunning(); err != nil && c.defect != "messages without an episode" {
		return tools.Step{}, err
	}
	if c.defect == "success by any message" {
		c.count = -1
	}
	c.right = c.right || c.task.Level == "hello" && text == "hello" && c.defect != "message solves nothing"
	if c.defect == "step without the message" {
		text = ""
	}
	return c.turns.Step(tools.Call{}, tools.Result{}, 0, c.task.Level == "hello").Spoken(text), nil
}

// solver counts up and submits, or says hello.
type solver struct{ defect string }

func (p solver) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if task.Level == "hello" {
		_, err := caller.(tools.Speaker).Say(ctx, "hello")
		return err
	}
	for range goalOf(task.Seed) {
		if p.defect == "oracle fails" && task.Seed == 17 {
			break
		}
		if _, err := caller.Step(ctx, tools.Call{Name: "increment"}); err != nil {
			return err
		}
	}
	_, err := caller.Step(ctx, tools.Call{Name: "submit"})
	return err
}

// enumerator is the counter's Enumerator: token 11 increments, 14 submits.
type enumerator struct {
	defect      string
	count, goal int
	steps       int
	done, right bool
	starts      int
}

var _ tools.Enumerator = (*enumerator)(nil)

func (e *enumerator) Start(rules, level string, seed uint64) error {
	if e.defect != "enumerator accepts any name" && (known(rules, level) != nil || level != "count") {
		return &tools.Error{Code: tools.Invalid, Message: "no such rules or level"}
	}
	*e = enumerator{defect: e.defect, goal: goalOf(seed), starts: e.starts + 1}
	return nil
}

func (e *enumerator) Vocabulary() tools.Vocabulary {
	v := tools.Vocabulary{Size: 18, Start: 10, End: 17, FirstTool: 11, LastTool: 16}
	if e.defect == "vocabulary out of range" {
		v.LastTool = 18
	}
	return v
}

func (e *enumerator) Token(token int) string {
	if e.defect == "duplicate token text" && token == 12 {
		token = 11
	}
	return strconv.Itoa(token)
}

func (e *enumerator) Context(buf []int) []int {
	switch e.defect {
	case "context outside the vocabulary":
		return append(buf, 18)
	case "context overwrites":
		return append(buf[:0], e.goal)
	}
	return append(buf, e.goal)
}

func (e *enumerator) Limit() int { return 12 }

func (e *enumerator) Act(token int) (float64, bool) {
	if e.done && e.defect != "acts after the end" {
		return 0, true
	}
	e.steps++
	switch token {
	case 11:
		e.count++
	case 14:
		e.right, e.done = e.count == e.goal || e.defect == "enumerator disagrees", true
	case 17:
		e.done = true
	}
	e.done = e.done || e.steps == e.Limit() && e.defect != "enumerator without limit"
	if e.defect == "enumerator not deterministic" {
		return float64(e.starts), e.done
	}
	return 1, e.done
}

func (e *enumerator) Success() bool { return e.right }

func (e *enumerator) HasShortcut() bool { return false }

func (e *enumerator) Calls(_ tools.Task, plan []int) ([]tools.Call, error) {
	var calls []tools.Call
	for i, token := range plan {
		switch {
		case token < 0 || token >= e.Vocabulary().Size:
			return nil, &tools.Error{Code: tools.Invalid, Message: "no such token"}
		case token == 17 || i == e.Limit():
			return calls, nil
		case token == 11:
			calls = append(calls, tools.Call{Name: "increment"})
		case token == 14:
			return append(calls, tools.Call{Name: "submit"}), nil
		}
	}
	return calls, nil
}
