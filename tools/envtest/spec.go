package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
)

// checkNames checks that names are present and unique and that schemas are closed.
func checkNames(_ context.Context, spec tools.Spec) error {
	var all []error
	if spec.Name == "" || strings.ContainsAny(spec.Name, "/@ ") {
		all = append(all, fmt.Errorf("the name %q cannot be part of a task id", spec.Name))
	}
	if strings.TrimSpace(spec.Description) == "" {
		all = append(all, errors.New("no description"))
	}
	for what, names := range map[string][]string{"rules": spec.Rules, "levels": spec.Levels} {
		if len(names) == 0 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			all = append(all, fmt.Errorf("%s %q; expected at least one, without duplicates", what, names))
		}
	}
	for _, rules := range spec.Rules {
		for _, level := range spec.Levels {
			set := spec.Tools(rules, level)
			all = append(all, set.Validate())
			for _, tool := range set {
				all = append(all, checkTool(tool))
			}
		}
	}
	return errors.Join(all...)
}

func checkTool(tool tools.Tool) error {
	var schema struct {
		Type       string `json:"type"`
		Additional *bool  `json:"additionalProperties"`
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		return fmt.Errorf("tool %s: %w", tool.Name, err)
	}
	if schema.Type != "object" || schema.Additional == nil || *schema.Additional {
		return fmt.Errorf("tool %s: schema %s; expected type object with additionalProperties false", tool.Name, tool.Parameters)
	}
	if strings.TrimSpace(tool.Description) == "" {
		return fmt.Errorf("tool %s: no description", tool.Name)
	}
	return nil
}

// checkTask checks that the task has a prompt, that its id finds the same task
// again, and that its JSON has no unknown field, which might contain the answer.
func checkTask(_ context.Context, spec tools.Spec, task tools.Task) error {
	if len(task.Prompt) == 0 {
		return errors.New("no prompt")
	}
	for i, m := range task.Prompt {
		if m.Role == "" || strings.TrimSpace(m.Content) == "" {
			return fmt.Errorf("message %d of the prompt has no role or no content: %+v", i, m)
		}
	}
	found, again, err := tools.Specs{spec}.Task(task.ID)
	if err != nil {
		return fmt.Errorf("finding the task by its id: %w", err)
	}
	if diff := cmp.Diff(task, again); diff != "" || found.Name != spec.Name {
		return fmt.Errorf("the id %s finds another task (-made +found):\n%s", task.ID, diff)
	}
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for key := range fields {
		if !slices.Contains([]string{"id", "env", "level", "seed", "rules", "prompt", "optimal"}, key) {
			return fmt.Errorf("the task's JSON has the unknown field %q", key)
		}
	}
	return nil
}

// checkTools checks that the spec and a running episode list the same tools.
func checkTools(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	listed := spec.Tools(task.Rules, task.Level)
	if len(listed) == 0 {
		return errors.New("no tools")
	}
	if diff := cmp.Diff(listed.Names(), env.Tools().Names()); diff != "" {
		return fmt.Errorf("tools differ (-spec +episode):\n%s", diff)
	}
	for i, tool := range env.Tools() {
		if string(tool.Parameters) != string(listed[i].Parameters) {
			return fmt.Errorf("tool %s: the schemas of spec and episode differ", tool.Name)
		}
	}
	if task.Rules == spec.Rules[0] && task.Level == spec.Levels[0] {
		if diff := cmp.Diff(listed.Names(), spec.Tools("", "").Names()); diff != "" {
			return fmt.Errorf("the default tools are not those of the first rules and level:\n%s", diff)
		}
	}
	return nil
}

// checkUnknownNames checks that unknown rules and levels are errors with code
// Invalid, and that every rule set has a level.
func checkUnknownNames(ctx context.Context, spec tools.Spec) error {
	var all []error
	try := func(rules, level string) {
		_, errTask := spec.NewTask(rules, level, 1)
		_, errReset := spec.New().Reset(ctx, tools.Task{Env: spec.Name, Rules: rules, Level: level})
		for what, err := range map[string]error{"task": errTask, "reset": errReset} {
			if err := wantError(err, tools.Invalid); err != nil {
				all = append(all, fmt.Errorf("%s of rules %q, level %q: %w", what, rules, level, err))
			}
		}
	}
	const unknown = "no such name"
	try(unknown, spec.Levels[0])
	for _, rules := range spec.Rules {
		levels := 0
		try(rules, unknown)
		for _, level := range spec.Levels {
			if _, err := spec.Task(rules, level, 1); err == nil {
				levels++
			} else {
				try(rules, level)
			}
		}
		if levels == 0 || rules == spec.Rules[0] && levels != len(spec.Levels) {
			all = append(all, fmt.Errorf("rules %q have %d of the %d levels", rules, levels, len(spec.Levels)))
		}
	}
	return errors.Join(all...)
}
