package main

import (
	"context"
	"fmt"
	"os"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func main() {
	for _, p := range []pupil{
		{arithmetic.Spec(), []string{"0", "1", "2", "3"}, train.GRPO, 64},
		{gridworld.Spec(), []string{"0"}, train.A2C, 32},
	} {
		if err := p.train(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", p.spec.Name, err)
			os.Exit(1)
		}
	}
}

// A pupil is a policy to be trained.
type pupil struct {
	spec      tools.Spec
	levels    []string
	algorithm string
	hidden    int
}

// least is the success that every level must come to.
const least = 0.99

func (p pupil) train(ctx context.Context) error {
	c, err := train.Default(p.spec, train.Choice{
		Levels: p.levels, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: p.algorithm, Pool: policy.PoolOrdered, Seed: 1,
	})
	if err != nil {
		return err
	}
	c.Network.Hidden, c.Network.Compare = p.hidden, false
	trainer, err := train.New(p.spec, c)
	if err != nil {
		return err
	}
	result, err := trainer.Run(ctx, train.Options{CPU: train.CPUTime})
	if err != nil {
		return err
	}
	for i, s := range result.Standings {
		fmt.Printf("%s %s: success %.3f, reward %.2f, plan %s\n", p.spec.Name, p.levels[i], s.Success, s.Reward, s.Plan)
		if s.Success < least {
			return fmt.Errorf("level %s has only %.3f success", p.levels[i], s.Success)
		}
	}
	fmt.Printf("%d updates, %.1f s of CPU, %d weights\n", result.Updates, result.CPU, trainer.Net().Size())
	return trainer.SaveNet(p.spec.Name + ".safetensors")
}
