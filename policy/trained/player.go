package trained

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
)

// A Player plays the tasks of all environments that a policy is trained for, at
// the levels and under the rules that it was trained on. It is used by one
// goroutine at a time.
type Player struct{ pupils map[string]pupil }

// A pupil is one environment's policy, and what it has learnt.
type pupil struct {
	tools.Agent
	rules  string
	levels []string
}

var _ tools.Agent = Player{}

// NewPlayer reads the policies of the environments that have one.
func NewPlayer(specs tools.Specs) (Player, error) {
	p := Player{pupils: map[string]pupil{}}
	for _, spec := range specs {
		net, checkpoint, err := Load(spec.Name)
		if refusal.Is(err, tools.NotFound) {
			continue
		}
		if err != nil {
			return p, fmt.Errorf("loading the policy for %s: %w", spec.Name, err)
		}
		config, err := train.ConfigOf(checkpoint)
		if err != nil {
			return p, fmt.Errorf("reading what the policy for %s was trained on: %w", spec.Name, err)
		}
		p.pupils[spec.Name] = pupil{policy.NewAgent(net, spec.Enumerate), config.Rules, config.Levels}
	}
	return p, nil
}

// Knows reports whether the task's level and rules were trained on.
func (p Player) Knows(task tools.Task) bool {
	known, ok := p.pupils[task.Env]
	return ok && known.rules == task.Rules && slices.Contains(known.levels, task.Level)
}

// Play plays by the environment's policy. A task that [Player.Knows] does not
// know is an [*tools.Error], code NotFound.
func (p Player) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	if !p.Knows(task) {
		return &tools.Error{Code: tools.NotFound, Where: "task", Message: "no policy is trained for tasks like " + task.ID, Want: "an environment, level and rules that a policy was trained on"}
	}
	return p.pupils[task.Env].Play(ctx, task, observation, caller)
}
