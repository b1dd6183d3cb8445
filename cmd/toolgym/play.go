package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

type playCommand struct {
	Env   string `arg:"" help:"Environment."`
	Level string `help:"Level (default: the environment's first)."`
	Rules string `help:"Rules: sound or documented." default:"sound"`
	Seed  uint64 `help:"Seed of the task." default:"0"`
	Agent string `help:"Who plays: ${enum}." enum:"oracle,random,policy,human" default:"oracle"`
	JSON  bool   `help:"Print the trajectory as JSON."`

	Checkpoint string `help:"Checkpoint of the policy, a file or a run's directory (default: the one in the binary)." placeholder:"F"`

	Skills string `help:"Skill library to offer as tools, as toolgym skills learn writes it." placeholder:"FILE"`
}

func (c playCommand) Run(ctx context.Context, world *console) error {
	spec, err := world.specs.Lookup(c.Env)
	if err != nil {
		return err
	}
	library, err := learntSkills(c.Skills)
	if err != nil {
		return err
	}
	if library != nil {
		spec = skill.AddTools(spec, library)
	}
	task, err := spec.Task(c.Rules, c.Level, c.Seed)
	if err != nil {
		return err
	}
	agent, err := c.agent(world, spec)
	if err != nil {
		return err
	}
	env := spec.New()
	if !c.JSON {
		agent = narrated{agent, env, world}
	}
	trajectory, err := tools.Rollout(ctx, env, task, agent)
	if err != nil {
		return err
	}
	if c.JSON {
		return world.printJSON(trajectory)
	}
	return world.printf("%s: success %t, return %.2f, %d steps\n", task.ID, trajectory.Success, trajectory.Return, len(trajectory.Steps))
}

func (c playCommand) agent(world *console, spec tools.Spec) (tools.Agent, error) {
	switch c.Agent {
	case "human":
		return human{world}, nil
	case "random":
		return baseline.Random(rand.NewPCG(c.Seed, 0)), nil
	}
	if c.Agent == "policy" {
		return policyAgent(c.Checkpoint, spec)
	}
	if spec.Oracle == nil {
		return nil, &tools.Error{Code: tools.NotFound, Where: "--agent", Message: fmt.Sprintf("environment %q has no oracle", spec.Name), Want: "random or human"}
	}
	return spec.Oracle, nil
}
