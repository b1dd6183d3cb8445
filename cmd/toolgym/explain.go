package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/policy/trained"
	"toolgym/tools"
)

type explainCommand struct {
	Checkpoint string `arg:"" help:"Checkpoint: a safetensors file, or the directory of a run."`
	Stage      *int   `help:"Stage (default: all that it was trained on)." placeholder:"N"`
	N          int    `short:"n" help:"Number of tasks of each stage." default:"5"`
	Seed       uint64 `help:"Seed of the first task; the others follow it." default:"0"`
	JSON       bool   `help:"Print JSON: a line a task."`
}

func (c explainCommand) Run(world *console) error {
	net, config, err := loadCheckpoint(c.Checkpoint)
	if err != nil {
		return err
	}
	spec, err := world.specs.Lookup(config.Env)
	if err != nil {
		return err
	}
	levels := config.Levels
	if c.Stage != nil {
		levels = []string{strconv.Itoa(*c.Stage)}
	}
	for i, level := range levels {
		list, err := train.Explain(net, spec, config.Rules, level, c.Seed, c.N)
		if err != nil {
			return err
		}
		if err := c.print(world, i, level, list); err != nil {
			return err
		}
	}
	return nil
}

func (c explainCommand) print(world *console, i int, level string, list []train.Explanation) error {
	if c.JSON {
		for _, e := range list {
			if err := world.printJSON(e); err != nil {
				return err
			}
		}
		return nil
	}
	gap := ""
	if i > 0 {
		gap = "\n"
	}
	if err := world.printf("%sstage %s\n", gap, level); err != nil {
		return err
	}
	return printExplanations(world, list)
}

// printExplanations prints tasks and plans, each token with its probability.
func printExplanations(world *console, list []train.Explanation) error {
	var rows [][]string
	for _, e := range list {
		plan := make([]string, len(e.Plan))
		for i, token := range e.Plan {
			plan[i] = fmt.Sprintf("%s %.2f", token, e.Probs[i])
		}
		rows = append(rows, []string{strings.Join(e.Context, " "), e.Target, fmt.Sprintf("%.2f", e.Reward), strconv.FormatBool(e.Success), strings.Join(plan, "  ")})
	}
	return world.printTable([]string{"CONTEXT", "TARGET", "REWARD", "SUCCESS", "PLAN, WITH PROBABILITIES"}, rows)
}

// loadCheckpoint reads a checkpoint, given as its file or as the directory of
// its run, and what it was trained on.
func loadCheckpoint(path string) (*policy.Net, train.Config, error) {
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		path = filepath.Join(path, checkpointName)
	}
	net, checkpoint, err := policy.LoadNet(path)
	if err != nil {
		return nil, train.Config{}, err
	}
	config, err := train.ConfigOf(checkpoint)
	return net, config, err
}

// policyAgent plays by a checkpoint, in the environment that it was trained on,
// or by the policy in the binary.
func policyAgent(path string, spec tools.Spec) (tools.Agent, error) {
	if path == "" {
		return trained.Agent(spec)
	}
	net, config, err := loadCheckpoint(path)
	if err != nil {
		return nil, err
	}
	if config.Env != spec.Name {
		return nil, refusal.New("--checkpoint", "a checkpoint trained on "+spec.Name, "%s was trained on %s", path, config.Env)
	}
	return policy.NewAgent(net, spec.Enumerate), nil
}
