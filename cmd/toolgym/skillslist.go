package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"toolgym/policy/skill"
)

type skillsList struct {
	Out  string `help:"Directory that skills learn wrote to." placeholder:"DIR" required:""`
	JSON bool   `help:"Print JSON."`
}

func (c skillsList) Run(world *console) error {
	library, err := skill.Load(filepath.Join(c.Out, libraryFile))
	if err != nil {
		return err
	}
	if c.JSON {
		return world.printJSON(struct {
			Skills []skill.Skill `json:"skills"`
			Stats  skill.Stats   `json:"stats"`
		}{library.Skills(), library.Stats()})
	}
	var rows [][]string
	for _, s := range library.Skills() {
		rows = append(rows, skillRow(s))
	}
	if err := world.printTable([]string{"SKILL", "ENV", "NEEDS", "USED", "SUCCEEDED", "FOUND", "ACTIONS"}, rows); err != nil {
		return err
	}
	stats := library.Stats()
	return world.printf("%d skills, %d retired, %d uses, mean success rate %.0f %%\n", stats.Skills, stats.Retired, stats.Uses, 100*stats.MeanSuccessRate)
}

func skillRow(s skill.Skill) []string {
	needs := []string{}
	for _, flag := range slices.Sorted(maps.Keys(s.Preconditions)) {
		needs = append(needs, map[bool]string{true: flag, false: "!" + flag}[s.Preconditions[flag]])
	}
	if s.Shape != "" {
		needs = append(needs, s.Shape)
	}
	if len(needs) == 0 {
		needs = []string{"–"}
	}
	actions := make([]string, len(s.Actions))
	for i, action := range s.Actions {
		actions[i] = action.Name
	}
	name := s.Name
	if s.Retired {
		name += " (retired)"
	}
	return []string{name, s.Env, strings.Join(needs, " "), fmt.Sprint(s.TimesUsed), fmt.Sprint(s.SuccessCount), fmt.Sprint(s.TimesFound), strings.Join(actions, " ")}
}
