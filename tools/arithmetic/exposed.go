package arithmetic

import (
	"context"

	"toolgym/tools"
)

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
