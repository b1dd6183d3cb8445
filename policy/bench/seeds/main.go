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
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func main() {
	seeds := flag.Uint64("seeds", 10, "number of seeds, from 0")
	first := flag.Uint64("first", 0, "first seed")
	verbose := flag.Bool("v", false, "print evaluations on the way to stderr")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	progress := io.Discard
	if *verbose {
		progress = os.Stderr
	}
	b := bench{out: os.Stdout, progress: progress, first: *first, seeds: *seeds}
	if err := b.run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

// bench is what all tables share.
type bench struct {
	out, progress io.Writer
	first, seeds  uint64
}

// A table is a choice that is tried on all seeds.
type table struct {
	name    string
	title   string
	spec    tools.Spec
	choice  train.Choice
	holdOut float64
}

// walked tells whether the plans' lengths are to be compared with the shortest.
func (t table) walked() bool { return t.spec.Name == "gridworld" }

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
		{"grid0", "Gridworld, level 0", g, choose([]string{"0"}, tools.Sound, train.Mastery, train.A2C, policy.PoolOrdered), 0},
		{"grid1", "Gridworld, level 1: layouts drawn, on tasks never seen, A2C", g, choose([]string{"1"}, tools.Sound, train.Mastery, train.A2C, policy.PoolOrdered), 0.1},
		{"grid1-grpo", "Gridworld, level 1: layouts drawn, on tasks never seen, GRPO", g, choose([]string{"1"}, tools.Sound, train.Mastery, train.GRPO, policy.PoolOrdered), 0.1},
	}
}

func (b bench) run(ctx context.Context, names []string) error {
	for _, t := range tables() {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		if err := b.print(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// print trains on all seeds and prints a row for each.
func (b bench) print(ctx context.Context, t table) error {
	command := "go run ./policy/bench/seeds "
	if b.seeds != 10 {
		command += fmt.Sprintf("-seeds %d ", b.seeds)
	}
	fmt.Fprintf(b.out, "## %s\n\n`%s%s`\n\n", t.title, command, t.name)
	fmt.Fprintf(b.out, "| seed |%s updates | restarts | CPU s |\n|---|%s---|---|---|\n", t.heading(), strings.Repeat("---|", strings.Count(t.heading(), "|")))
	for seed := b.first; seed < b.first+b.seeds; seed++ {
		r, err := b.train(ctx, t, seed)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| %d |%s %d | %d | %.1f |\n", seed, t.cells(r), r.Updates, r.Restarts, r.CPU)
	}
	_, err := fmt.Fprintln(b.out)
	return err
}

func (b bench) train(ctx context.Context, t table, seed uint64) (train.Result, error) {
	t.choice.Seed = seed
	c, err := train.Default(t.spec, t.choice)
	if err != nil {
		return train.Result{}, err
	}
	c.HoldOut, c.Network.Compare = t.holdOut, false // no table has the distance to the start
	trainer, err := train.New(t.spec, c)
	if err != nil {
		return train.Result{}, err
	}
	return trainer.Run(ctx, train.Options{CPU: train.CPUTime, Observe: b.follow})
}

// follow prints the evaluations on the way.
func (b bench) follow(r telemetry.Record) error {
	for _, s := range r.Greedy {
		fmt.Fprintf(b.progress, "update %d stage %s: success %.3f reward %.3f steps %.1f plan %s; sampled reward %.3f entropy %.3f value loss %.3f gradient %.3f\n",
			r.Update, s.Stage, s.Success, s.Reward, s.Steps, s.Plan, r.Reward, r.Entropy, r.ValueLoss, r.GradNorm)
	}
	return nil
}

func (t table) heading() string {
	var b strings.Builder
	for _, level := range t.choice.Levels {
		fmt.Fprintf(&b, " success %s | reward %s | steps |", level, level)
		if t.walked() {
			b.WriteString(" shortest |")
		}
	}
	return b.String()
}

func (t table) cells(r train.Result) string {
	var b strings.Builder
	for i := range r.Success {
		fmt.Fprintf(&b, " %.1f %% | %.2f | %.1f |", 100*r.Success[i], r.Reward[i], r.StageResults[i].Steps)
		if t.walked() {
			fmt.Fprintf(&b, " %.1f |", r.StageResults[i].Optimal)
		}
	}
	return b.String()
}
