package gridworld

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"toolgym/internal/episode"
	"toolgym/tools"
)

// nothing is the arguments of every tool.
type nothing struct{}

// seen is what a tool answers.
type seen struct {
	State
	Sight *Sight `json:"sight,omitempty"` // of look only
}

// declared holds the tools of all levels, in the order of the actions, declared
// once for all episodes.
var declared = sync.OnceValue(func() tools.Set {
	set := make(tools.Set, actions)
	for a, description := range [actions]string{
		MoveUp:    "Moves one cell up: y grows by 1.",
		MoveDown:  "Moves one cell down: y falls by 1.",
		MoveLeft:  "Moves one cell left: x falls by 1.",
		MoveRight: "Moves one cell right: x grows by 1.",
		PickupKey: "Picks up the key, on the key's cell.",
		OpenDoor:  "Opens the door with the key, on the door's cell.",
		Look:      "Shows what stands on the cells in sight.",
	} {
		set[a] = tools.New[nothing, seen](Action(a).String(), description, nil)
	}
	return set
})

// actionOf is the action of a tool's name, Wait where there is none.
func actionOf(tool string) Action {
	for a := range actions {
		if a.String() == tool {
			return a
		}
	}
	return Wait
}

// offered is the set of tools at a level; empty names mean the defaults, and
// unknown ones have none.
func offered(rules, level string) tools.Set {
	if rules == "" {
		rules = tools.Sound
	}
	switch {
	case level != "" && !slices.Contains(levels(rules), level), levels(rules) == nil:
		return nil
	case level == hidden:
		return declared()
	}
	return slices.Clip(declared()[:Look])
}

// env is the environment as language models see it.
type env struct {
	turns episode.Turns
	world World
	set   tools.Set
}

var _ tools.Env = (*env)(nil)

func (e *env) Tools() tools.Set { return e.set }

func (e *env) Success() bool { return e.world.layout != nil && e.world.Success() }

// Reset refuses a task that is not this environment's, and then leaves the
// running episode as it is.
func (e *env) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if err := episode.CheckEnv(name, task); err != nil {
		return nil, err
	}
	world, err := Open(task.Rules, task.Level, task.Seed)
	if err != nil {
		return nil, err
	}
	observation, err := json.Marshal(seen{State: world.State()})
	if err != nil {
		return nil, fmt.Errorf("encoding the observation: %w", err)
	}
	e.world, e.set = world, offered(task.Rules, task.Level)
	e.turns.Begin(world.limit)
	return observation, nil
}

// Step carries a tool's action out. A call that the tools refuse is a step
// without action.
func (e *env) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	acted, reward := false, 0.0
	result, err := e.call(ctx, call, func(context.Context, nothing) (seen, error) {
		action := actionOf(call.Name)
		acted = true
		reward, _ = e.world.Step(action)
		return e.show(action), nil
	})
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s: %w", call.Name, err)
	}
	if !acted {
		reward, _ = e.world.Step(Wait)
	}
	return e.turns.Step(call, result, reward, e.world.Success()), nil
}

// call has the named tool check the arguments before it acts.
func (e *env) call(ctx context.Context, call tools.Call, act func(context.Context, nothing) (seen, error)) (tools.Result, error) {
	tool, ok := e.set.Lookup(call.Name)
	if !ok {
		return e.set.Call(ctx, call) // which says what tools there are
	}
	return tools.Bind(tool, act).Call(ctx, call.Arguments)
}

func (e *env) show(a Action) seen {
	s := seen{State: e.world.State()}
	if a == Look {
		sight := e.world.Sight()
		s.Sight = &sight
	}
	return s
}

// Text draws the episode as it stands; "" before the first reset.
func (e *env) Text() string {
	if e.world.layout == nil {
		return ""
	}
	return e.world.Text()
}

// SVG draws the episode as it stands; "" before the first reset.
func (e *env) SVG() string {
	if e.world.layout == nil {
		return ""
	}
	return e.world.SVG()
}
