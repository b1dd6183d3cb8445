package trained

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
)

//go:embed *.safetensors *.json
var files embed.FS

// Load returns the network trained for a level of an environment, and its training
// configuration. A level without one is a [*tools.Error] with code NotFound that names
// the levels that have one.
func Load(env, level string) (*policy.Net, train.Config, error) {
	known, err := checkpoints(env)
	if err != nil {
		return nil, train.Config{}, err
	}
	for _, c := range known {
		if slices.Contains(c.config.Levels, level) {
			net, err := c.load()
			return net, c.config, err
		}
	}
	return nil, train.Config{}, missing(env, level, known)
}

// A checkpoint is an embedded checkpoint: the name of its files and its training
// configuration.
type checkpoint struct {
	name   string
	config train.Config
}

// checkpoints lists the checkpoints of an environment.
func checkpoints(env string) ([]checkpoint, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("listing the trained policies: %w", err)
	}
	var list []checkpoint
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		config, err := configOf(name)
		if err != nil {
			return nil, fmt.Errorf("reading the configuration of the policy %s: %w", name, err)
		}
		if config.Env == env {
			list = append(list, checkpoint{name, config})
		}
	}
	return list, nil
}

func configOf(name string) (train.Config, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return train.Config{}, err
	}
	var sidecar policy.Checkpoint
	if err := json.Unmarshal(text, &sidecar); err != nil {
		return train.Config{}, err
	}
	return train.ConfigOf(sidecar)
}

// load decodes the network.
func (c checkpoint) load() (*policy.Net, error) {
	weights, err := files.ReadFile(c.name + ".safetensors")
	if err != nil {
		return nil, fmt.Errorf("reading the trained policy: %w", err)
	}
	sidecar, err := files.ReadFile(c.name + ".json")
	if err != nil {
		return nil, fmt.Errorf("reading the trained policy: %w", err)
	}
	net, _, err := policy.DecodeNet(weights, sidecar)
	if err != nil {
		return nil, fmt.Errorf("decoding the trained policy %s: %w", c.name, err)
	}
	return net, nil
}

// missing returns the error for a level without a policy.
func missing(env, level string, known []checkpoint) error {
	e := &tools.Error{Code: tools.NotFound, Where: "level", Message: fmt.Sprintf("no policy is trained for level %q of %s", level, env)}
	var levels []string
	for _, c := range known {
		levels = append(levels, c.config.Levels...)
	}
	if len(levels) == 0 {
		e.Where, e.Message = "env", fmt.Sprintf("no policy is trained for %q", env)
	}
	e.Want = "a checkpoint made by toolgym train"
	if len(levels) > 0 {
		e.Want = "level " + strings.Join(levels, ", ") + ", or " + e.Want
	}
	return e
}

// A Player plays the tasks of all environments that have a trained policy, at the
// levels and under the rules of its training. It is used by one goroutine at a time.
type Player struct{ agents map[string]agent }

// An agent plays one environment, each level by the policy trained for it.
type agent struct {
	env    string
	levels map[string]levelPolicy
	known  []checkpoint
}

// A levelPolicy is a policy and the rules it was trained under.
type levelPolicy struct {
	tools.Agent
	rules string
}

var (
	_ tools.Agent = Player{}
	_ tools.Agent = agent{}
)

// Agent returns an agent that plays an environment, each level by the policy trained
// for it, under any rules. It is used by one goroutine at a time. An environment
// without a policy is a [*tools.Error] with code NotFound; so is playing a level
// without one.
func Agent(spec tools.Spec) (tools.Agent, error) {
	c, err := newAgent(spec)
	if err == nil && len(c.known) == 0 {
		err = missing(spec.Name, "", nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NewPlayer loads the policies of the environments that have one.
func NewPlayer(specs tools.Specs) (Player, error) {
	p := Player{agents: map[string]agent{}}
	for _, spec := range specs {
		c, err := newAgent(spec)
		if err != nil {
			return p, err
		}
		p.agents[spec.Name] = c
	}
	return p, nil
}

// newAgent loads the policies of an environment, possibly none.
func newAgent(spec tools.Spec) (agent, error) {
	known, err := checkpoints(spec.Name)
	a := agent{spec.Name, map[string]levelPolicy{}, known}
	for _, k := range known {
		net, err := k.load()
		if err != nil {
			return a, err
		}
		player := policy.NewAgent(net, spec.Enumerate)
		for _, level := range k.config.Levels {
			a.levels[level] = levelPolicy{player, k.config.Rules}
		}
	}
	return a, err
}

// Play plays by the policy of the task's level.
func (a agent) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	p, ok := a.levels[task.Level]
	if !ok {
		return missing(a.env, task.Level, a.known)
	}
	return p.Play(ctx, task, observation, caller)
}

// Knows reports whether a policy was trained on the task's level and rules.
func (p Player) Knows(task tools.Task) bool {
	known, ok := p.agents[task.Env].levels[task.Level]
	return ok && known.rules == task.Rules
}

// Play plays by the policy of the task's environment and level. A task for which
// [Player.Knows] is false is a [*tools.Error] with code NotFound.
func (p Player) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	if !p.Knows(task) {
		return &tools.Error{Code: tools.NotFound, Where: "task", Message: "no policy is trained for tasks like " + task.ID, Want: "an environment, level and rules that a policy was trained on"}
	}
	return p.agents[task.Env].Play(ctx, task, observation, caller)
}
