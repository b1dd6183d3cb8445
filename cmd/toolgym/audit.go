package main

import (
	"context"
	"fmt"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/internal/refusal"
)

type auditCommand struct {
	Rubric string `help:"Rubric to attack, YAML or JSON (default: the published lab's)." placeholder:"FILE"`
	JSON   bool   `help:"Print the report as JSON, every finding."`
}

func (c auditCommand) Run(ctx context.Context, world *console) error {
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return err
	}
	report, err := audit.Run(ctx, world.specs, rubric)
	if err != nil {
		return ofFile(c.Rubric, err)
	}
	if err := c.print(world, report); err != nil {
		return err
	}
	if holes := report.Holes(); len(holes) > 0 {
		return threshold{fmt.Errorf("the rubric pays %d of %d attacks more than an honest near miss, such as %s", len(holes), len(report.Findings), holes[0])}
	}
	return nil
}

// print shows, for each attack, the task on which it got furthest.
func (c auditCommand) print(world *console, report audit.Report) error {
	if c.JSON {
		return world.printJSON(report)
	}
	var rows [][]string
	for _, f := range furthest(report.Findings) {
		reward, verdict := "not scored", "ok"
		if f.Reward != nil {
			reward = fmt.Sprintf("%.2f", *f.Reward)
		}
		if !f.Passed {
			verdict = "HOLE"
		}
		rows = append(rows, []string{f.Attack, f.Task, reward, fmt.Sprintf("%.2f", f.NearMiss), verdict})
	}
	return world.printTable([]string{"ATTACK", "TASK", "REWARD", "NEAR MISS", "VERDICT"}, rows)
}

// furthest keeps one finding of each attack: the first that was not scored, or
// else the one with the most beyond its near miss.
func furthest(findings []audit.Finding) []audit.Finding {
	var list []audit.Finding
	at := map[string]int{}
	for _, f := range findings {
		i, ok := at[f.Attack]
		switch {
		case !ok:
			at[f.Attack] = len(list)
			list = append(list, f)
		case beyond(f, list[i]):
			list[i] = f
		}
	}
	return list
}

func beyond(a, b audit.Finding) bool {
	if a.Reward == nil || b.Reward == nil {
		return b.Reward != nil
	}
	return *a.Reward-a.NearMiss > *b.Reward-b.NearMiss
}

// readRubric reads a rubric file; without one, it is the default rubric.
func readRubric(path string) (grpo.Rubric, error) {
	if path == "" {
		return grpo.DefaultRubric(), nil
	}
	text, err := readFile("--rubric", path)
	if err != nil {
		return grpo.Rubric{}, err
	}
	rubric, err := grpo.ParseRubric(text)
	return rubric, ofFile(path, err)
}

// ofFile says in a caller's mistake which file it is in.
func ofFile(path string, err error) error {
	if path == "" {
		return err
	}
	return refusal.Relocate(err, func(where string) string { return strings.TrimSuffix(path+": "+where, ": ") })
}
