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

// workbench is an episode with typed tools.
type workbench struct {
	expression string
	target     *big.Rat
	values     map[string]json.Number // by letter, where they are to be looked up
	memory     *big.Rat               // nil until something is stored

	answered, right bool
}

func newWorkbench(level string, p Problem) (*workbench, error) {
	value, err := calculator.Evaluate(p.Expression()) // exact at every size, as int need not be
	if err != nil {
		return nil, err
	}
	target, err := calculator.Exact(value)
	if err != nil {
		return nil, err
	}
	w := &workbench{expression: written(level, p), target: target}
	if level == grounded {
		w.values = map[string]json.Number{}
		for i := range p.shape().operands {
			w.values[letters()[i]] = json.Number(strconv.Itoa(p.Operands[i]))
		}
	}
	return w, nil
}

func (w *workbench) observe() any {
	return struct {
		Expression string `json:"expression"`
	}{w.expression}
}

// call binds the tools that act on the episode's state to it; the others keep
// none and run as they are declared.
func (w *workbench) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	var result tools.Result
	var err error
	box := declared()
	switch {
	case call.Name == "store":
		result, err = tools.Bind(box.store, w.store).Call(ctx, call.Arguments)
	case call.Name == "recall":
		result, err = tools.Bind(box.recall, w.recall).Call(ctx, call.Arguments)
	case call.Name == "answer":
		result, err = tools.Bind(box.answer, w.answer).Call(ctx, call.Arguments)
	case call.Name == "lookup" && w.values != nil:
		result, err = tools.Bind(box.lookup, w.lookup).Call(ctx, call.Arguments)
	case w.values != nil:
		result, err = box.grounded.Call(ctx, call)
	default:
		result, err = box.typed.Call(ctx, call)
	}
	return result, float64(bit(w.right)), w.answered, err
}

func (w *workbench) say(string) (float64, bool) { return 0, false }

func (w *workbench) success() bool { return w.right }

func (w *workbench) store(_ context.Context, in value) (stored, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return stored{}, err
	}
	w.memory = v
	return stored{calculator.Decimal(v)}, nil
}

func (w *workbench) recall(context.Context, nothing) (result, error) {
	if w.memory == nil {
		return result{}, tools.Mistakef("nothing is stored: call store first")
	}
	return result{calculator.Decimal(w.memory)}, nil
}

// answer never says whether the value was right.
func (w *workbench) answer(_ context.Context, in value) (accepted, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return accepted{}, err
	}
	w.answered, w.right = true, v.Cmp(w.target) == 0
	return accepted{true}, nil
}

func (w *workbench) lookup(_ context.Context, in letter) (result, error) {
	v, ok := w.values[in.Name]
	if !ok {
		names := letters()
		return result{}, tools.Mistakef("the task has no such letter: its letters are %s", strings.Join(names[:len(w.values)], ", "))
	}
	return result{v}, nil
}

// silence is an episode at level restraint: a message without calls completes
// it, and a call fails it.
type silence struct{ spoken bool }

func (s *silence) observe() any { return struct{}{} }

// call ends the episode. The call is carried out all the same, on a workbench
// without a task, so that the agent sees an honest result.
func (s *silence) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	bench := &workbench{target: new(big.Rat)}
	result, _, _, err := bench.call(ctx, call)
	return result, 0, true, err
}

// say ends the episode. A message in which nothing can be read fails it.
func (s *silence) say(text string) (float64, bool) {
	s.spoken = legible(text)
	return float64(bit(s.spoken)), true
}

func (s *silence) success() bool { return s.spoken }

// legible tells whether a text has anything to read: blanks, control and
// zero-width characters alone are an empty message.
func legible(text string) bool {
	for _, letter := range text {
		if unicode.IsGraphic(letter) && !unicode.IsSpace(letter) && letter != unicode.ReplacementChar {
			return true
		}
	}
	return false
}

// exposed is the documented machine, played by tools without arguments.
type exposed struct{ machine DocumentedMachine }

// machineState is what the documented tools show.
type machineState struct {
	Last   *int `json:"last"` // null until something was computed
	Stored bool `json:"stored"`
}

func (x *exposed) observe() any { return x.state() }

func (x *exposed) state() machineState {
	if !x.machine.known {
		return machineState{Stored: x.machine.stored}
	}
	last := x.machine.last
	return machineState{&last, x.machine.stored}
}

// call plays the tool's token. A call that the tools refuse costs a step, as a
// token without effect does.
func (x *exposed) call(ctx context.Context, call tools.Call) (result tools.Result, reward float64, ended bool, err error) {
	token := Ctx
	play := func(context.Context, nothing) (machineState, error) {
		token = tokenOf(call.Name)
		reward, ended = x.machine.Step(token)
		return x.state(), nil
	}
	t, ok := declared().documented.Lookup(call.Name)
	if ok {
		result, err = tools.Bind(t, play).Call(ctx, call.Arguments)
	} else {
		result, err = declared().documented.Call(ctx, call)
	}
	if token == Ctx && err == nil {
		x.machine.Step(Ctx)
	}
	return result, reward, ended && token == Ans, err
}

func (x *exposed) say(string) (float64, bool) {
	x.machine.Step(Ctx)
	return 0, false
}

func (x *exposed) success() bool { return x.machine.Success() }

// tokenOf is the token that a tool stands for. It panics if no tool has that
// name.
func tokenOf(tool string) int {
	for token := Mul; token <= Rcl; token++ {
		if toolName(token) == tool {
			return token
		}
	}
	panic("arithmetic: no token for tool " + tool)
}
