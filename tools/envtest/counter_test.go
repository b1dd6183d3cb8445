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

// The environment of this test: count up to the task's number, then submit.
// Level "hello" wants a message and no call. A flaw, where one is set, breaks
// one promise.
type counter struct {
	flaw        string
	turns       episode.Turns
	task        tools.Task
	count, goal int
	done, right bool
	set         tools.Set
	made        int // which Env of its spec this is
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

// spec describes the counter with one flaw, or none.
func spec(flaw string) tools.Spec {
	set, made := declared(), new(atomic.Int32)
	s := tools.Spec{
		Name: "counter", Description: "Counts.", Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"count", "hello"},
		Tools: func(string, string) tools.Set { return set },
		New: func() tools.Env {
			return &counter{flaw: flaw, set: set, made: int(made.Add(1))}
		},
		NewTask: func(rules, level string, seed uint64) (tools.Task, error) {
			return newTask(flaw, rules, level, seed)
		},
		Oracle:    player{flaw},
		Enumerate: func() tools.Enumerator { return &machine{flaw: flaw} },
	}
	spoil(&s, set, flaw)
	return s
}

// spoil puts flaws of the description into a spec.
func spoil(s *tools.Spec, set tools.Set, flaw string) {
	switch flaw {
	case "name twice":
		s.Tools = func(string, string) tools.Set { return tools.Set{set[0], set[0]} }
	case "open schema":
		open, _ := tools.Declare("increment", "Adds one.", json.RawMessage(`{"type":"object"}`))
		s.Tools = func(string, string) tools.Set { return tools.Set{open, set[1]} }
	case "hidden tool":
		s.Tools = func(string, string) tools.Set { return set[:1] }
	case "no levels":
		s.Levels = []string{}
	case "one Env for all":
		only := s.New()
		s.New = func() tools.Env { return only }
	}
}

func newTask(flaw, rules, level string, seed uint64) (tools.Task, error) {
	if err := known(rules, level); err != nil && flaw != "any level" {
		return tools.Task{}, err
	}
	task := tools.Task{Prompt: []tools.Message{{Role: "user", Content: fmt.Sprintf("Count to %d.", goalOf(seed))}}, NeedsNoCall: level == "hello"}
	switch flaw {
	case "no prompt":
		task.Prompt = nil
	case "blank prompt":
		task.Prompt[0].Content = " "
	case "optimal too long":
		task.Optimal = 100
	}
	return task, nil
}

// known refuses unknown names; the documented rules have one level only.
func known(rules, level string) error {
	if level == "count" && slices.Contains([]string{tools.Sound, tools.Documented}, rules) || level == "hello" && rules == tools.Sound {
		return nil
	}
	return &tools.Error{Code: tools.Invalid, Message: "no such rules or level"}
}

func (c *counter) Tools() tools.Set { return c.set }

func (c *counter) Success() bool {
	return c.right || c.flaw == "success from the start" || c.flaw == "success by talk" && c.count < 0
}

func (c *counter) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if task.Env != "counter" && c.flaw != "any env" {
		if c.flaw == "refusal ends the episode" {
			c.turns = episode.Turns{}
		}
		return nil, &tools.Error{Code: tools.Invalid, Message: "another environment's"}
	}
	if err := known(task.Rules, task.Level); err != nil && c.flaw != "any level" {
		return nil, err
	}
	kept := *c
	*c = counter{flaw: c.flaw, set: c.set, task: task, goal: goalOf(task.Seed)}
	if c.flaw == "remembers" {
		c.count = kept.count
	}
	c.turns.Begin(map[bool]int{true: 1 << 30, false: 12}[c.flaw == "no limit"])
	switch c.flaw {
	case "observation is a list":
		return json.RawMessage("[]"), nil
	case "every Env is another":
		return json.RawMessage(fmt.Sprintf(`{"count":%d}`, kept.made)), nil
	}
	return json.RawMessage(`{"count":0}`), nil
}

func (c *counter) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := c.turns.Open(); err != nil && c.flaw != "open after the end" {
		return tools.Step{}, err
	}
	if c.flaw == "crash" && len(call.Arguments) > 1000 {
		return tools.Step{}, fmt.Errorf("out of memory")
	}
	if c.flaw == "invalid calls count" && call.Name == "no such tool" {
		c.count++
	}
	result, err := c.run(ctx, call)
	if err != nil {
		return tools.Step{}, err
	}
	if result.IsError && c.flaw == "invalid calls are free" {
		return tools.Transition(call, result, 0), nil
	}
	if c.flaw == "terminates at the limit" && c.count == 0 && call.Name == "no such tool" {
		c.goal++
		return c.turns.Take(call, result, 0, c.goal > 8), nil
	}
	return c.turns.Take(call, result, 0, c.done || c.task.Level == "hello"), nil
}

func (c *counter) run(ctx context.Context, call tools.Call) (tools.Result, error) {
	if call.Name == "submit" && c.flaw == "deaf tool" {
		return c.set[:1].Call(ctx, call)
	}
	if c.flaw == "lenient" {
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
	if err := c.turns.Open(); err != nil && c.flaw != "talk at any time" {
		return tools.Step{}, err
	}
	if c.flaw == "success by talk" {
		c.count = -1
	}
	c.right = c.right || c.task.Level == "hello" && text == "hello" && c.flaw != "deaf"
	if c.flaw == "forgets what was said" {
		text = ""
	}
	return c.turns.Take(tools.Call{}, tools.Result{}, 0, c.task.Level == "hello").Spoken(text), nil
}

// player counts up and submits, or says hello.
type player struct{ flaw string }

func (p player) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if task.Level == "hello" {
		_, err := caller.(tools.Speaker).Say(ctx, "hello")
		return err
	}
	for range goalOf(task.Seed) {
		if p.flaw == "weak oracle" && task.Seed == 17 {
			break
		}
		if _, err := caller.Step(ctx, tools.Call{Name: "increment"}); err != nil {
			return err
		}
	}
	_, err := caller.Step(ctx, tools.Call{Name: "submit"})
	return err
}

// machine is the counter for the policy: 11 increments, 14 submits.
type machine struct {
	flaw        string
	count, goal int
	steps       int
	done, right bool
	starts      int
}

var _ tools.Enumerator = (*machine)(nil)

func (m *machine) Start(rules, level string, seed uint64) error {
	if m.flaw != "enumerates anything" && (known(rules, level) != nil || level != "count") {
		return &tools.Error{Code: tools.Invalid, Message: "no such rules or level"}
	}
	*m = machine{flaw: m.flaw, goal: goalOf(seed), starts: m.starts + 1}
	return nil
}

func (m *machine) Vocabulary() tools.Vocabulary {
	v := tools.Vocabulary{Size: 18, Start: 10, End: 17, FirstTool: 11, LastTool: 16}
	if m.flaw == "vocabulary out of range" {
		v.LastTool = 18
	}
	return v
}

func (m *machine) Token(token int) string {
	if m.flaw == "two tokens of one text" && token == 12 {
		token = 11
	}
	return strconv.Itoa(token)
}

func (m *machine) Context(buf []int) []int {
	switch m.flaw {
	case "context of other tokens":
		return append(buf, 18)
	case "context overwrites":
		return append(buf[:0], m.goal)
	}
	return append(buf, m.goal)
}

func (m *machine) Limit() int { return 12 }

func (m *machine) Act(token int) (float64, bool) {
	if m.done && m.flaw != "acts behind the end" {
		return 0, true
	}
	m.steps++
	switch token {
	case 11:
		m.count++
	case 14:
		m.right, m.done = m.count == m.goal || m.flaw == "another machine", true
	case 17:
		m.done = true
	}
	m.done = m.done || m.steps == m.Limit() && m.flaw != "machine without limit"
	if m.flaw == "machine with a mood" {
		return float64(m.starts), m.done
	}
	return 1, m.done
}

func (m *machine) Success() bool { return m.right }

func (m *machine) Accidental() bool { return false }

func (m *machine) Calls(_ tools.Task, plan []int) ([]tools.Call, error) {
	var calls []tools.Call
	for i, token := range plan {
		switch {
		case token < 0 || token >= m.Vocabulary().Size:
			return nil, &tools.Error{Code: tools.Invalid, Message: "no such token"}
		case token == 17 || i == m.Limit():
			return calls, nil
		case token == 11:
			calls = append(calls, tools.Call{Name: "increment"})
		case token == 14:
			return append(calls, tools.Call{Name: "submit"}), nil
		}
	}
	return calls, nil
}
