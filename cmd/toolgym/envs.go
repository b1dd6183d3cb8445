package main

import (
	"strings"

	"toolgym/api/client"
)

type envsCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c envsCommand) Run(world *console) error {
	if c.JSON {
		return world.printJSON(client.Describe(world.specs))
	}
	var rows [][]string
	for _, spec := range world.specs {
		rows = append(rows, []string{spec.Name, strings.Join(spec.Levels, " "), strings.Join(spec.Rules, " "),
			strings.Join(spec.Tools("", "").Names(), " ")})
	}
	return world.printTable([]string{"ENV", "LEVELS", "RULES", "TOOLS"}, rows)
}
