package baseline

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Random is an agent that calls tools at random until the episode is over. It
// is used by one goroutine at a time. Where the tools admit no call that it
// can make up, it fails with an [*tools.Error], code Invalid.
func Random(source rand.Source) tools.Agent { return &random{rand.New(source)} }

type random struct{ draw *rand.Rand }

func (a *random) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		call, err := a.call(caller.Tools())
		if err != nil {
			return err
		}
		step, err := caller.Step(ctx, call)
		if err != nil || step.Done() {
			return err
		}
	}
}

// call draws a tool and arguments until they fit each other.
func (a *random) call(set tools.Set) (tools.Call, error) {
	const draws = 100
	if len(set) == 0 {
		return tools.Call{}, refusal.New("/tools", "at least one tool", "there is no tool to call")
	}
	for range draws {
		tool := set[a.draw.Uint32N(uint32(len(set)))]
		arguments, err := a.arguments(tool.Parameters)
		if err != nil {
			return tools.Call{}, fmt.Errorf("drawing arguments for %s: %w", tool.Name, err)
		}
		if len(tool.Validate(arguments)) == 0 {
			return tools.Call{Name: tool.Name, Arguments: arguments}, nil
		}
	}
	return tools.Call{}, refusal.New("/tools", "a tool whose schema random arguments can satisfy", "no valid call found in %d draws", draws)
}

// Idle is an agent that does nothing.
func Idle() tools.Agent { return idle{} }

type idle struct{}

func (idle) Play(context.Context, tools.Task, json.RawMessage, tools.Caller) error { return nil }
