package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func main() {
	flag.Parse()
	for _, p := range pupils() {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), p.name) {
			continue
		}
		if err := p.train(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", p.name, err)
			os.Exit(1)
		}
	}
}

// A pupil is a policy to be trained; its name is that of its files.
type pupil struct {
	name      string
	spec      tools.Spec
	levels    []string
	algorithm string
	hidden    int
	seed      uint64
	holdOut   float64 // what is left out of training, and measured on
}

func pupils() []pupil {
	return []pupil{
		{"arithmetic", arithmetic.Spec(), []string{"0", "1", "2", "3"}, train.GRPO, 64, 1, 0},
		{"gridworld-0", gridworld.Spec(), []string{"0"}, train.A2C, 32, 1, 0},
		{"gridworld-1", gridworld.Spec(), []string{"1"}, train.A2C, 96, 3, 0.1},
	}
}

// least is the success that every level must come to.
const least = 0.99

func (p pupil) train(ctx context.Context) error {
	c, err := train.Default(p.spec, train.Choice{
		Levels: p.levels, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: p.algorithm, Pool: policy.PoolOrdered, Seed: p.seed,
	})
	if err != nil {
		return err
	}
	c.Network.Hidden, c.Network.Compare, c.HoldOut = p.hidden, false, p.holdOut
	trainer, err := train.New(p.spec, c)
	if err != nil {
		return err
	}
	result, err := trainer.Run(ctx, train.Options{CPU: train.CPUTime})
	if err != nil {
		return err
	}
	for i, s := range result.StageResults {
		fmt.Printf("%s, level %s: success %.3f, reward %.2f, %.1f steps, plan %s\n", p.name, p.levels[i], s.Success, s.Reward, s.Steps, s.Plan)
		if s.Success < least {
			return fmt.Errorf("level %s has only %.3f success", p.levels[i], s.Success)
		}
	}
	fmt.Printf("%d updates, %.1f s of CPU, %d weights\n", result.Updates, result.CPU, trainer.Net().Size())
	return trainer.SaveNet(p.name + ".safetensors")
}
