package gridworld

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/tools"
)

// oracle walks a shortest path. It knows the layout from the task's seed, also
// where sight is limited.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	w, err := Open(task.Rules, task.Level, task.Seed)
	if err != nil {
		return err
	}
	for _, action := range w.Path() {
		step, err := caller.Step(ctx, tools.Call{Name: action.String(), Arguments: json.RawMessage("{}")})
		if err != nil {
			return err
		}
		if step.Result.IsError {
			return fmt.Errorf("the oracle's call of %v failed: %s", action, step.Result.Content)
		}
	}
	return nil
}
