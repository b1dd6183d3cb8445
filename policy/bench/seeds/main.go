package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func main() {
	seeds := flag.Uint64("seeds", 10, "number of seeds, from 0")
	first := flag.Uint64("first", 0, "first seed")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := run(context.Background(), os.Stdout, *first, *seeds, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

// A table is a choice that is tried on all seeds.
type table struct {
	name    string
	title   string
	spec    tools.Spec
	choice  train.Choice
	holdOut float64
}

func tables() []table {
	stages := []string{"0", "1", "2"}
	a, g := arithmetic.Spec(), gridworld.Spec()
	choose := func(levels []string, rules, curriculum, algorithm, pool string) train.Choice {
		return train.Choice{Levels: levels, Rules: rules, Curriculum: curriculum, Algorithm: algorithm, Pool: pool}
	}
	return []table{
		{"published", "The published run: documented rules, curriculum, update and pool", a, choose(stages, tools.Documented, train.Published, train.A2C, policy.PoolBatch), 0},
		{"mastery-grpo", "Mastery, sound rules, GRPO", a, choose(stages, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0},
		{"mastery-a2c", "Mastery, sound rules, A2C", a, choose(stages, tools.Sound, train.Mastery, train.A2C, policy.PoolOrdered), 0},
		{"batch-grpo", "Mastery, documented rules and pool, GRPO", a, choose(stages, tools.Documented, train.Mastery, train.GRPO, policy.PoolBatch), 0},
		{"batch-a2c", "Mastery, documented rules and pool, A2C", a, choose(stages, tools.Documented, train.Mastery, train.A2C, policy.PoolBatch), 0},
		{"stage3", "Stage 3: operators drawn, on tasks never seen", a, choose([]string{"3"}, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0.1},
		{"stage4", "Stages 3 and 4, on tasks never seen", a, choose([]string{"3", "4"}, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0.1},
		{"grid0", "Gridworld, level 0", g, choose([]string{"0"}, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0},
		{"grid1", "Gridworld, level 1", g, choose([]string{"1"}, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0},
	}
}

func run(ctx context.Context, w io.Writer, first, seeds uint64, names []string) error {
	for _, t := range tables() {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		if err := t.print(ctx, w, first, seeds); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// print trains on all seeds and prints a row for each.
func (t table) print(ctx context.Context, w io.Writer, first, seeds uint64) error {
	fmt.Fprintf(w, "## %s\n\n`go run ./policy/bench/seeds %s`\n\n", t.title, t.name)
	fmt.Fprintf(w, "| seed |%s updates | restarts | CPU s |\n|---|%s---|---|---|\n", t.heading(), strings.Repeat("---|", 2*len(t.choice.Levels)))
	for seed := first; seed < first+seeds; seed++ {
		choice := t.choice
		choice.Seed = seed
		c, err := train.Default(t.spec, choice)
		if err != nil {
			return err
		}
		c.HoldOut = t.holdOut
		trainer, err := train.New(t.spec, c)
		if err != nil {
			return err
		}
		r, err := trainer.Run(ctx, train.Options{CPU: train.CPUTime})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %d |%s %d | %d | %.1f |\n", seed, cells(r), r.Updates, r.Restarts, r.CPU)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (t table) heading() string {
	var b strings.Builder
	for _, level := range t.choice.Levels {
		fmt.Fprintf(&b, " success %s | reward %s |", level, level)
	}
	return b.String()
}

func cells(r train.Result) string {
	var b strings.Builder
	for i := range r.Success {
		fmt.Fprintf(&b, " %.1f %% | %.2f |", 100*r.Success[i], r.Reward[i])
	}
	return b.String()
}
