package suite

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"toolgym/grpo/eval"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Choice says which tasks of environments are played.
type Choice struct {
	Envs   []string // none: arithmetic
	Levels []string // none: 0, 1 and 2, as far as the environment has them
	Rules  string   // empty: each environment's default
	N      int      // tasks of each level
	Seed   uint64   // of the first task of each level
}

// MostTasks is how many tasks a choice may make: all of them are made, and kept
// with the run, before the first is played.
const MostTasks = 10_000

// Generate makes the tasks of a choice, environment by environment and level
// by level. A name that does not exist, and more than [MostTasks], is an
// [*tools.Error].
func Generate(specs tools.Specs, c Choice) ([]eval.Item, error) {
	if c.N < 1 || uint64(c.N-1) > math.MaxUint64-c.Seed {
		return nil, refusal.New("n", "at least 1, and seeds within 64 bits", "%d tasks of each level from seed %d", c.N, c.Seed)
	}
	if len(c.Envs) == 0 {
		c.Envs = []string{"arithmetic"}
	}
	var items []eval.Item
	for _, name := range unique(c.Envs) {
		spec, err := specs.Lookup(name)
		if err != nil {
			return nil, err
		}
		if levels := len(c.levels(spec)); c.N > (MostTasks-len(items))/max(1, levels) {
			return nil, refusal.New("n", fmt.Sprintf("at most %d tasks in all", MostTasks), "%d tasks of each of %d levels of %s", c.N, levels, name)
		}
		for _, level := range c.levels(spec) {
			for k := range c.N {
				task, err := spec.Task(c.Rules, level, c.Seed+uint64(k))
				if err != nil {
					return nil, fmt.Errorf("making tasks of %s: %w", name, err)
				}
				items = append(items, eval.EnvItem(spec, task))
			}
		}
	}
	return items, nil
}

func (c Choice) levels(spec tools.Spec) []string {
	if len(c.Levels) > 0 {
		return unique(c.Levels)
	}
	first := slices.DeleteFunc([]string{"0", "1", "2"}, func(l string) bool { return !slices.Contains(spec.Levels, l) })
	if len(first) == 0 {
		return spec.Levels
	}
	return first
}

// unique drops what stands twice and keeps the order.
func unique(names []string) []string {
	var list []string
	for _, name := range names {
		if name = strings.TrimSpace(name); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
