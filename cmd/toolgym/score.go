package main

import (
	"context"
	"io"
	"log/slog"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
)

type scoreCommand struct {
	Rubric        string `help:"Rubric, YAML or JSON (default: format 1, schema 1.5, completion 3, length -0.05)." placeholder:"FILE"`
	Normalization string `help:"What an advantage is divided by: ${enum}." enum:"group,batch,none" default:"group"`
	Aggregation   string `help:"Whether criteria are added up before or after they are normalized: ${enum}." enum:"sum_then_normalize,normalize_then_sum" default:"sum_then_normalize"`
	Loss          string `help:"Loss of the metrics, JSON, where lines have log-probabilities (default: dapo, epsilon 0.2, beta 0.05, k3)." placeholder:"FILE"`
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
	loss, err := readLoss(c.Loss)
	if err != nil {
		return err
	}
	if c.Workers < 0 {
		return refusal.New("--workers", "at least 1, or 0 for one a core", "a negative number of workers")
	}
	var metrics grpo.Metrics
	err = world.through(ctx, c.File, func(ctx context.Context, in io.Reader, out io.Writer) (err error) {
		metrics, err = scorer.Stream(ctx, in, out, grpo.StreamOptions{
			Grouped: c.Grouped, Workers: c.Workers, Normalization: objective.Normalization(c.Normalization),
			Aggregation: objective.Aggregation(c.Aggregation), Loss: loss,
			Failed: func(line int, cause error) {
				world.log.LogAttrs(ctx, slog.LevelError, "line not scored", slog.Int("line", line), goroutine.Attr(cause))
			},
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

// readLoss reads the configuration of a loss; without a file it is nil, the
// default.
func readLoss(path string) (*objective.Config, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readFile("--loss", path)
	if err != nil {
		return nil, err
	}
	loss := new(objective.Config)
	if err := loss.UnmarshalJSON(text); err != nil {
		return nil, ofFile(path, err)
	}
	return loss, ofFile(path, loss.Validate())
}
