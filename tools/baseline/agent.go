package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
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
		call, err := a.call(ctx, caller.Tools())
		if err != nil {
			return err
		}
		step, err := caller.Step(ctx, call)
		if err != nil || step.Done() {
			return err
		}
	}
}

// call draws a tool and arguments until they fit each other. All draws together
// take at most so many steps to be checked as those of one call may.
func (a *random) call(ctx context.Context, set tools.Set) (tools.Call, error) {
	const draws, largeDraws = 100, 5
	left, large := tools.MaxSteps, 0
	if len(set) == 0 {
		return tools.Call{}, refusal.New("/tools", "at least one tool", "there is no tool to call")
	}
	for range draws {
		tool := set[a.draw.Uint32N(uint32(len(set)))]
		arguments, err := a.arguments(tool.Parameters)
		if errors.Is(err, errLarge) {
			if large++; large == largeDraws {
				break
			}
			continue
		}
		if err != nil {
			return tools.Call{}, fmt.Errorf("drawing arguments for %s: %w", tool.Name, err)
		}
		valid, err := fits(ctx, tool, arguments, &left)
		if err != nil {
			return tools.Call{}, err
		}
		if valid {
			return tools.Call{Name: tool.Name, Arguments: arguments}, nil
		}
	}
	if large == largeDraws {
		return tools.Call{}, refusal.New("/tools", "a tool whose schema smaller random arguments can satisfy", "no valid call found: %d draws had more than %d values", large, mostParts)
	}
	return tools.Call{}, refusal.New("/tools", "a tool whose schema random arguments can satisfy", "no valid call found in %d draws", draws)
}

// fits reports whether the arguments are valid. The error is the context's, or that
// no steps are left.
func fits(ctx context.Context, tool tools.Tool, arguments json.RawMessage, left *int) (bool, error) {
	value, err := strictjson.Decode(arguments)
	if err != nil {
		return false, nil //nolint:nilerr // a constant of the schema may be what no call can have
	}
	violations, err := tool.ValidateWithin(ctx, left, value)
	return err == nil && len(violations) == 0, err
}

// Idle is an agent that does nothing.
func Idle() tools.Agent { return idle{} }

type idle struct{}

func (idle) Play(context.Context, tools.Task, json.RawMessage, tools.Caller) error { return nil }
