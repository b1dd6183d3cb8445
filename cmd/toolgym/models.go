package main

import (
	"context"
	"fmt"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/refusal"
)

type modelsCommand struct {
	Ollama string `help:"Address of the Ollama server." default:"http://127.0.0.1:11434" placeholder:"URL"`
	JSON   bool   `help:"Print JSON."`
}

// described is a model and how it seems to write calls.
type described struct {
	rollout.Model
	Family parse.Family `json:"family_hint"`
}

func (c modelsCommand) Run(ctx context.Context, world *console) error {
	models, err := rollout.Config{URL: c.Ollama}.Describe(ctx)
	if err != nil {
		return refusal.Move("--ollama", err)
	}
	list := make([]described, len(models))
	var rows [][]string
	for i, m := range models {
		list[i] = described{m, rollout.FamilyHint(m.Template)}
		rows = append(rows, []string{m.Name, short(m.Digest), fmt.Sprintf("%.1f MB", float64(m.Size)/1e6), fmt.Sprint(m.Context), has(m.Tools), has(m.Thinking), short(m.TemplateHash), string(list[i].Family)})
	}
	if c.JSON {
		return world.printJSON(map[string][]described{"models": list})
	}
	return world.printTable([]string{"MODEL", "DIGEST", "SIZE", "CONTEXT", "TOOLS", "THINKING", "TEMPLATE", "CALLS LIKE"}, rows)
}

// short is the beginning of a digest; a server that tells none has none.
func short(digest string) string {
	_, digits, _ := strings.Cut(digest, ":")
	return digits[:min(len(digits), 12)]
}

func has(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
