package main

import (
	"context"
	"io"

	"toolgym/grpo"
	"toolgym/grpo/objective"
)

type scoreCommand struct {
	Rubric        string `help:"Rubric, YAML or JSON (default: format 1, schema 1.5, completion 3, length -0.05)." placeholder:"FILE"`
	Normalization string `help:"What an advantage is divided by: ${enum}." enum:"group,batch,none" default:"group"`
	Grouped       bool   `help:"The members of each group are neighbours: answer group by group, in bounded memory and without disk."`
	Workers       int    `help:"Goroutines that score (default: one a core)." placeholder:"N"`
	JSON          bool   `help:"Write the metrics as a last line of the results, not as a table on stderr."`
	File          string `arg:"" optional:"" help:"JSON lines, one completion each; - is standard input." default:"-"`
}

// Help shows how the command is used.
func (scoreCommand) Help() string {
	return `Scores completions, one JSON line each, and writes a line for each in the same
order. A line names its group, its task (task_id, or tools and expected) and
what the model made of it (text or messages):

  {"group":"g1","task_id":"arithmetic/2/17","text":"<tool_call>…"}
  {"group":"g2","tools":[…],"expected":{"calls":[{"name":"f","arguments":{}}]},"text":"…"}

Examples:
  toolgym score --grouped rollouts.jsonl > scores.jsonl
  zcat rollouts.jsonl.gz | toolgym score --rubric rubric.yaml --json | tail -n 1

Without --grouped, groups may be spread over the file, and what must wait is
spilled to the system's temporary directory (TMPDIR).`
}

func (c scoreCommand) Run(ctx context.Context, world *console) error {
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return err
	}
	scorer, err := grpo.NewScorer(world.specs, rubric)
	if err != nil {
		return ofFile(c.Rubric, err)
	}
	if c.Workers < 0 {
		return usage("--workers", "a negative number of workers", "at least 1, or 0 for one a core")
	}
	var metrics grpo.Metrics
	err = world.through(ctx, c.File, func(ctx context.Context, in io.Reader, out io.Writer) (err error) {
		metrics, err = scorer.Stream(ctx, in, out, grpo.StreamOptions{
			Grouped: c.Grouped, Workers: c.Workers, Normalization: objective.Normalization(c.Normalization),
		})
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return world.printJSON(map[string]grpo.Metrics{"metrics": metrics})
	}
	return writeTable(world.err, []string{"METRIC", "VALUE"}, metricRows(metrics, rubric))
}
