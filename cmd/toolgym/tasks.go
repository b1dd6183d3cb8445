package main

import (
	"fmt"
	"math"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

type tasksCommand struct {
	Env   string `arg:"" help:"Environment."`
	Level string `help:"Level (default: the environment's first)."`
	Rules string `help:"Rules: sound or documented." default:"sound"`
	Seed  uint64 `help:"Seed of the first task; the others follow it." default:"0"`
	N     int    `short:"n" help:"Number of tasks." default:"5"`
	JSON  bool   `help:"Print JSON."`
}

func (c tasksCommand) Run(world *console) error {
	tasks, err := listTasks(world.specs, c.Env, c.Rules, c.Level, c.Seed, c.N)
	if err != nil {
		return err
	}
	if c.JSON {
		return world.printJSON(map[string][]tools.Task{"tasks": tasks})
	}
	var rows [][]string
	for _, task := range tasks {
		rows = append(rows, []string{task.ID, optimal(task), task.Prompt[len(task.Prompt)-1].Content})
	}
	return world.printTable([]string{"TASK", "OPTIMAL", "PROMPT"}, rows)
}

func optimal(task tools.Task) string {
	if task.Optimal == 0 {
		return "–"
	}
	return strconv.Itoa(task.Optimal)
}

// mostListed is how many tasks are listed at a time: a table is written when all
// of them are there.
const mostListed = 100_000

// listTasks makes n tasks with consecutive seeds.
func listTasks(specs tools.Specs, env, rules, level string, seed uint64, n int) ([]tools.Task, error) {
	if n < 1 || n > mostListed || uint64(n-1) > math.MaxUint64-seed {
		return nil, refusal.New("-n", fmt.Sprintf("between 1 and %d, and seed + n within 64 bits", mostListed), "the number of tasks does not fit")
	}
	spec, err := specs.Lookup(env)
	if err != nil {
		return nil, err
	}
	tasks := make([]tools.Task, n)
	for i := range tasks {
		if tasks[i], err = spec.Task(rules, level, seed+uint64(i)); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}
