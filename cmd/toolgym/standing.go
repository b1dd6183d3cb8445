package main

import (
	"fmt"

	"toolgym/grpo"
)

// A standing is how an agent did: means over its scored completions.
type standing struct {
	Agent      string  `json:"agent"`
	Episodes   int     `json:"episodes"`
	Format     float64 `json:"format"`
	Schema     float64 `json:"schema"`
	Completion float64 `json:"completion"`
	Reward     float64 `json:"reward"`
	Advantage  float64 `json:"advantage"`
}

// add takes one scored completion into the means.
func (s *standing) add(score grpo.Score) {
	if !score.Valid {
		return
	}
	s.Episodes++
	grow := func(mean *float64, value float64) { *mean += (value - *mean) / float64(s.Episodes) }
	criterion := func(name string) float64 {
		c, _ := score.Criteria.Named(name)
		return c.Value
	}
	grow(&s.Format, criterion("format"))
	grow(&s.Schema, criterion("schema"))
	grow(&s.Completion, criterion("completion"))
	grow(&s.Reward, *score.Reward)
	grow(&s.Advantage, score.Advantage)
}

// standings sums a response up by contestant; the completions of each group
// stand in the contestants' order.
func standings(field []contestant, response grpo.Response) []standing {
	out := make([]standing, len(field))
	for i, contestant := range field {
		out[i].Agent = contestant.name
		for _, group := range response.Groups {
			for _, score := range group.Completions[i*members : (i+1)*members] {
				out[i].add(score)
			}
		}
	}
	return out
}

func (c demoCommand) print(world *console, list []standing, metrics grpo.Metrics) error {
	if c.JSON {
		for _, s := range list {
			if err := world.printJSON(s); err != nil {
				return err
			}
		}
		return world.printJSON(map[string]grpo.Metrics{"metrics": metrics})
	}
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Agent, fmt.Sprint(s.Episodes), fmt.Sprintf("%.2f", s.Format), fmt.Sprintf("%.2f", s.Schema),
			fmt.Sprintf("%.2f", s.Completion), fmt.Sprintf("%+.2f", s.Reward), fmt.Sprintf("%+.2f", s.Advantage)})
	}
	return world.printTable([]string{"AGENT", "EPISODES", "FORMAT", "SCHEMA", "COMPLETION", "REWARD", "ADVANTAGE"}, rows)
}
