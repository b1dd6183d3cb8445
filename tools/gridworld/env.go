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

// noArguments is the argument type of every tool.
type noArguments struct{}

// response is the result of a tool.
type response struct {
	State
	Sight *Sight `json:"sight,omitempty"` // only for look
}

// declared returns the tools of all levels, in the order of the actions. They are
// declared once; episodes bind them to their state.
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
		set[a] = tools.New[noArguments, response](Action(a).String(), description, nil)
	}
	return set
})

// actionOf returns the action of a tool, or Wait for an unknown name.
func actionOf(tool string) Action {
	for a := range actions {
		if a.String() == tool {
			return a
		}
	}
	return Wait
}

// toolsAt returns the tools of a level. Empty names are the defaults; for unknown
// names it returns nil.
func toolsAt(rules, level string) tools.Set {
	if rules == "" {
		rules = tools.Sound
	}
	switch {
	case level != "" && !slices.Contains(levels(rules), level), levels(rules) == nil:
		return nil
	case level == limitedSight:
		return declared()
	}
	return slices.Clip(declared()[:Look])
}

// env is the environment with tools.
type env struct {
	turns episode.Turns
	world World
	set   tools.Set
}

var _ tools.Env = (*env)(nil)

func (e *env) Tools() tools.Set { return e.set }

func (e *env) Success() bool { return e.world.layout != nil && e.world.Success() }

// Reset starts the episode of a task. A task of another environment is an error,
// which does not affect the running episode.
func (e *env) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if err := episode.CheckEnv(name, task); err != nil {
		return nil, err
	}
	world, err := Open(task.Rules, task.Level, task.Seed)
	if err != nil {
		return nil, err
	}
	observation, err := json.Marshal(response{State: world.State()})
	if err != nil {
		return nil, fmt.Errorf("encoding the observation: %w", err)
	}
	e.world, e.set = world, toolsAt(task.Rules, task.Level)
	e.turns.Begin(world.limit)
	return observation, nil
}

// Step executes the action of a tool. An invalid call takes a step like Wait.
func (e *env) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	acted, reward := false, 0.0
	result, err := e.call(ctx, call, func(context.Context, noArguments) (response, error) {
		action := actionOf(call.Name)
		acted = true
		reward, _ = e.world.Step(action)
		return e.respond(action), nil
	})
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s: %w", call.Name, err)
	}
	if !acted {
		reward, _ = e.world.Step(Wait)
	}
	return e.turns.Step(call, result, reward, e.world.Success()), nil
}

// call runs act if the call is valid.
func (e *env) call(ctx context.Context, call tools.Call, act func(context.Context, noArguments) (response, error)) (tools.Result, error) {
	tool, ok := e.set.Lookup(call.Name)
	if !ok {
		return e.set.Call(ctx, call) // an error result that lists the tools
	}
	return tools.Bind(tool, act).Call(ctx, call.Arguments)
}

// respond returns the result of an action.
func (e *env) respond(a Action) response {
	s := response{State: e.world.State()}
	if a == Look {
		sight := e.world.Sight()
		s.Sight = &sight
	}
	return s
}

// Text draws the present state, see [World.Text]. It is "" before the first reset.
func (e *env) Text() string {
	if e.world.layout == nil {
		return ""
	}
	return e.world.Text()
}

// SVG draws the present state, see [World.SVG]. It is "" before the first reset.
func (e *env) SVG() string {
	if e.world.layout == nil {
		return ""
	}
	return e.world.SVG()
}
