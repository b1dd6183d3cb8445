package trained

import (
	"context"
	"encoding/json"

	"toolgym/policy"
	"toolgym/tools"
)

// A Player plays the tasks of all environments that a policy is trained for, at
// the levels and under the rules that it was trained on. It is used by one
// goroutine at a time.
type Player struct{ classes map[string]class }

// A class is what plays one environment: for each level the policy that has
// learnt it.
type class struct {
	env    string
	pupils map[string]pupil
	known  []checkpoint
}

// A pupil is a policy, and the rules that it has learnt.
type pupil struct {
	tools.Agent
	rules string
}

var (
	_ tools.Agent = Player{}
	_ tools.Agent = class{}
)

// Agent returns an agent that plays an environment, each level by the policy
// trained for it, under whatever rules a task has. It is used by one goroutine at
// a time. An environment without a policy is an [*tools.Error], code NotFound;
// so is, when it is played, a level without one.
func Agent(spec tools.Spec) (tools.Agent, error) {
	c, err := newClass(spec)
	if err == nil && len(c.known) == 0 {
		err = missing(spec.Name, "", nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NewPlayer reads the policies of the environments that have one.
func NewPlayer(specs tools.Specs) (Player, error) {
	p := Player{classes: map[string]class{}}
	for _, spec := range specs {
		c, err := newClass(spec)
		if err != nil {
			return p, err
		}
		p.classes[spec.Name] = c
	}
	return p, nil
}

// newClass reads an environment's policies, of which there may be none.
func newClass(spec tools.Spec) (class, error) {
	known, err := checkpoints(spec.Name)
	c := class{spec.Name, map[string]pupil{}, known}
	for _, k := range known {
		net, err := k.load()
		if err != nil {
			return c, err
		}
		agent := policy.NewAgent(net, spec.Enumerate)
		for _, level := range k.config.Levels {
			c.pupils[level] = pupil{agent, k.config.Rules}
		}
	}
	return c, err
}

// Play plays by the policy of the task's level.
func (c class) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	p, ok := c.pupils[task.Level]
	if !ok {
		return missing(c.env, task.Level, c.known)
	}
	return p.Play(ctx, task, observation, caller)
}

// Knows reports whether the task's level and rules were trained on.
func (p Player) Knows(task tools.Task) bool {
	known, ok := p.classes[task.Env].pupils[task.Level]
	return ok && known.rules == task.Rules
}

// Play plays by the policy of the task's environment and level. A task that
// [Player.Knows] does not know is an [*tools.Error], code NotFound.
func (p Player) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	if !p.Knows(task) {
		return &tools.Error{Code: tools.NotFound, Where: "task", Message: "no policy is trained for tasks like " + task.ID, Want: "an environment, level and rules that a policy was trained on"}
	}
	return p.classes[task.Env].Play(ctx, task, observation, caller)
}
