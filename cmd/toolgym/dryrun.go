package main

import (
	"context"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	formats "toolgym/grpo/eval/report"
	"toolgym/grpo/eval/suite"
	"toolgym/grpo/rollout"
	"toolgym/internal/evaluation"
	"toolgym/internal/plain"
	"toolgym/internal/refusal"
)

// dryRun checks the tasks and shows what a model would be given.
func (c evalCommand) dryRun(ctx context.Context, world *console, request evaluation.Request) error {
	request = request.WithDefaults()
	if err := lint(ctx, world, request.Suite); err != nil {
		return err
	}
	items, err := request.Items(ctx, world.specs)
	if err != nil {
		return err
	}
	if err := replay(ctx, world, items); err != nil {
		return err
	}
	if err := world.printf("%d tasks, each solved by its reference: %d trials of %s\n", len(items), len(items)*request.Trials, known(request.Model)); err != nil {
		return err
	}
	if err := omissions(ctx, world, items); err != nil {
		return err
	}
	template, from := c.template(ctx, request)
	var seen []string
	for _, item := range items {
		level := item.Task.Env + "/" + item.Task.Level
		if slices.Contains(seen, level) {
			continue
		}
		seen = append(seen, level)
		if err := preview(ctx, world, item, template, from); err != nil {
			return err
		}
	}
	return nil
}

func known(model string) string {
	if model == "" {
		return "no model yet"
	}
	return model
}

// lint lists every line of the user's file that cannot be used.
func lint(ctx context.Context, world *console, s *evaluation.Suite) error {
	if s == nil {
		return nil
	}
	_, problems, err := suite.Read(ctx, strings.NewReader(s.Lines), s.Name)
	if err != nil {
		return err
	}
	for _, p := range problems {
		if err := world.printf("%s: %v\n", s.Name, p); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return refusal.New("--suite", "each of them mended", "%d lines cannot be used", len(problems))
	}
	return nil
}

// replay plays every reference, and lists all tasks that it does not solve.
func replay(ctx context.Context, world *console, items []eval.Item) error {
	scorer, err := grpo.NewScorer(world.specs, grpo.DefaultRubric())
	if err != nil {
		return err
	}
	impossible := 0
	for _, item := range items {
		err := item.Replay(ctx, scorer)
		if err == nil {
			continue
		}
		impossible++
		if err := world.printf("%v\n", err); err != nil {
			return err
		}
	}
	if impossible > 0 {
		return refusal.New("tasks", "a reference that passes", "%d tasks cannot be solved", impossible)
	}
	return nil
}

// omissions says which tasks the baselines of the report will leave out.
func omissions(ctx context.Context, world *console, items []eval.Item) error {
	agents, err := evaluation.Room{Specs: world.specs}.Baselines(ctx, items, 1)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if note := (formats.Reference{Name: a.Name, LeftOut: a.LeftOut, Reason: a.Reason}).Note(); note != "" {
			if err := world.printf("%s\n", plain.Text(note)); err != nil {
				return err
			}
		}
	}
	return nil
}

// template asks the server for the model's template; without an answer the
// prompt is shown in our own.
func (c evalCommand) template(ctx context.Context, request evaluation.Request) (template, from string) {
	if request.Model == "" || len(request.Ollama) == 0 {
		return "", "toolgym's own template, since no model of an Ollama server is named"
	}
	model, err := rollout.Config{URL: request.Ollama[0], Model: request.Model}.Probe(ctx)
	if err != nil {
		return "", "toolgym's own template, since " + err.Error()
	}
	return model.Template, "the template of " + model.Name + ", " + model.TemplateHash
}

// preview shows one level: what is hidden, and the prompt.
func preview(ctx context.Context, world *console, item eval.Item, template, from string) error {
	hidden, err := rollout.Hidden(item.Tools)
	if err != nil {
		return err
	}
	prompt, err := rollout.Raw{Template: template}.Prompt(ctx, item.Task, item.Tools)
	if err != nil {
		return err
	}
	if err := world.printf("\n%s (%d tools)\n", item.Task.ID, len(item.Tools)); err != nil {
		return err
	}
	if len(hidden) > 0 {
		if err := world.printf("Ollama's chat route cannot carry %d parts of the schemas:\n  %s\n", len(hidden), strings.Join(hidden, "\n  ")); err != nil {
			return err
		}
	}
	return world.printf("The prompt by %s:\n%s\n", from, prompt)
}
