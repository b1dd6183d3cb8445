package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"toolgym/internal/calculator"
	"toolgym/internal/episode"
	"toolgym/tools"
)

// maxCalls is the maximum number of calls of an episode with typed tools.
const maxCalls = 16

// env is the environment with tools.
type env struct {
	turns episode.Turns
	state state
	set   tools.Set
}

var (
	_ tools.Env     = (*env)(nil)
	_ tools.Speaker = (*env)(nil)
)

// A state is the state of an episode. There is a type for each kind of task.
type state interface {
	// observe returns the first observation, which is encoded as a JSON object.
	observe() any
	// call makes a call and reports whether it ends the task.
	call(ctx context.Context, call tools.Call) (result tools.Result, reward float64, ended bool, err error)
	// say handles a message without calls and reports whether it ends the task.
	say(text string) (reward float64, ended bool)
	success() bool
}

func (e *env) Tools() tools.Set { return e.set }

func (e *env) Success() bool { return e.state != nil && e.state.success() }

// Reset starts the episode of a task. A task of another environment is an error,
// which does not affect the running episode.
func (e *env) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if err := episode.CheckEnv(name, task); err != nil {
		return nil, err
	}
	if err := check(task.Rules, task.Level); err != nil {
		return nil, err
	}
	state, limit, err := newState(task)
	if err != nil {
		return nil, err
	}
	observation, err := json.Marshal(state.observe())
	if err != nil {
		return nil, fmt.Errorf("encoding the observation: %w", err)
	}
	e.state, e.set = state, toolsAt(task.Rules, task.Level)
	e.turns.Begin(limit)
	return observation, nil
}

// newState returns the state for a task and the limit of its steps.
func newState(task tools.Task) (s state, limit int, err error) {
	switch {
	case task.Level == restraint:
		return &restraintState{}, maxCalls, nil
	case task.Rules == tools.Documented:
		m := NewDocumented(problemOf(task.Level, task.Seed))
		return &documentedState{machine: m}, DocumentedLimit, nil
	}
	typed, err := newTypedState(task.Level, problemOf(task.Level, task.Seed))
	return typed, maxCalls, err
}

func (e *env) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	result, reward, ended, err := e.state.call(ctx, call)
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s: %w", call.Name, err)
	}
	return e.turns.Step(call, result, reward, ended), nil
}

// Say handles a message without calls. It takes a step like a call, so that an
// agent that only sends messages reaches the limit too. At level restraint the
// first message ends the episode; at other levels it has no effect.
func (e *env) Say(_ context.Context, text string) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	reward, ended := e.state.say(text)
	return e.turns.Step(tools.Call{}, tools.Result{}, reward, ended).Spoken(text), nil
}

// typedState is the state of an episode with typed tools.
type typedState struct {
	expression string
	target     *big.Rat
	values     map[string]json.Number // by letter, at level grounded
	memory     *big.Rat               // nil if nothing is stored

	answered, right bool
}

func newTypedState(level string, p Problem) (*typedState, error) {
	value, err := calculator.Evaluate(p.Expression()) // exact; int could overflow at level large
	if err != nil {
		return nil, err
	}
	target, err := calculator.Exact(value)
	if err != nil {
		return nil, err
	}
	s := &typedState{expression: expressionAt(level, p), target: target}
	if level == grounded {
		s.values = map[string]json.Number{}
		for i := range p.shape().operands {
			s.values[letters()[i]] = json.Number(strconv.Itoa(p.Operands[i]))
		}
	}
	return s, nil
}

func (s *typedState) observe() any {
	return struct {
		Expression string `json:"expression"`
	}{s.expression}
}

// call runs a tool. Tools that use the state of the episode are bound to it; the
// others have their own handler.
func (s *typedState) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	var result tools.Result
	var err error
	box := declared()
	switch {
	case call.Name == "store":
		result, err = tools.Bind(box.store, s.store).Call(ctx, call.Arguments)
	case call.Name == "recall":
		result, err = tools.Bind(box.recall, s.recall).Call(ctx, call.Arguments)
	case call.Name == "answer":
		result, err = tools.Bind(box.answer, s.answer).Call(ctx, call.Arguments)
	case call.Name == "lookup" && s.values != nil:
		result, err = tools.Bind(box.lookup, s.lookup).Call(ctx, call.Arguments)
	case s.values != nil:
		result, err = box.grounded.Call(ctx, call)
	default:
		result, err = box.typed.Call(ctx, call)
	}
	return result, float64(bit(s.right)), s.answered, err
}

func (s *typedState) say(string) (float64, bool) { return 0, false }

func (s *typedState) success() bool { return s.right }

func (s *typedState) store(_ context.Context, in value) (stored, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return stored{}, err
	}
	s.memory = v
	return stored{calculator.Decimal(v)}, nil
}

func (s *typedState) recall(context.Context, noArguments) (result, error) {
	if s.memory == nil {
		return result{}, tools.Mistakef("nothing is stored: call store first")
	}
	return result{calculator.Decimal(s.memory)}, nil
}

// answer ends the task. Its result does not tell whether the value is correct.
func (s *typedState) answer(_ context.Context, in value) (accepted, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return accepted{}, err
	}
	s.answered, s.right = true, v.Cmp(s.target) == 0
	return accepted{true}, nil
}

func (s *typedState) lookup(_ context.Context, in lookupInput) (result, error) {
	v, ok := s.values[in.Name]
	if !ok {
		names := letters()
		return result{}, tools.Mistakef("the task has no such letter: its letters are %s", strings.Join(names[:len(s.values)], ", "))
	}
	return result{v}, nil
}

// restraintState is the state of an episode at level restraint: a message solves
// the task, and a call fails it.
type restraintState struct{ answered bool }

func (s *restraintState) observe() any { return struct{}{} }

// call ends the episode. The tool still runs, so that the agent gets its result.
func (s *restraintState) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	typed := &typedState{target: new(big.Rat)}
	result, _, _, err := typed.call(ctx, call)
	return result, 0, true, err
}

// say ends the episode. A message without visible text fails it.
func (s *restraintState) say(text string) (float64, bool) {
	s.answered = hasVisibleText(text)
	return float64(bit(s.answered)), true
}

func (s *restraintState) success() bool { return s.answered }

// hasVisibleText reports whether a text has a visible character. Spaces, control
// characters and zero-width characters are not visible.
func hasVisibleText(text string) bool {
	for _, r := range text {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != unicode.ReplacementChar {
			return true
		}
	}
	return false
}

// documentedState is the documented machine, with tools that have no arguments.
type documentedState struct{ machine DocumentedMachine }

// machineState is the result of the documented tools.
type machineState struct {
	Last   *int `json:"last"` // null if nothing has been computed
	Stored bool `json:"stored"`
}

func (s *documentedState) observe() any { return s.state() }

func (s *documentedState) state() machineState {
	if !s.machine.hasLast {
		return machineState{Stored: s.machine.stored}
	}
	last := s.machine.last
	return machineState{&last, s.machine.stored}
}

// call plays the token of a tool. An invalid call takes a step of the machine, like
// a token without effect.
func (s *documentedState) call(ctx context.Context, call tools.Call) (result tools.Result, reward float64, ended bool, err error) {
	token := Ctx
	play := func(context.Context, noArguments) (machineState, error) {
		token = tokenOf(call.Name)
		reward, ended = s.machine.Step(token)
		return s.state(), nil
	}
	t, ok := declared().documented.Lookup(call.Name)
	if ok {
		result, err = tools.Bind(t, play).Call(ctx, call.Arguments)
	} else {
		result, err = declared().documented.Call(ctx, call)
	}
	if token == Ctx && err == nil {
		s.machine.Step(Ctx)
	}
	return result, reward, ended && token == Ans, err
}

func (s *documentedState) say(string) (float64, bool) {
	s.machine.Step(Ctx)
	return 0, false
}

func (s *documentedState) success() bool { return s.machine.Success() }

// tokenOf returns the token of a tool. It panics if no tool has the name.
func tokenOf(tool string) int {
	for token := Mul; token <= Rcl; token++ {
		if toolName(token) == tool {
			return token
		}
	}
	panic("arithmetic: no token for tool " + tool)
}
