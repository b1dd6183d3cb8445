package episode

import (
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Of refuses another environment's task.
func Of(env string, task tools.Task) error {
	if task.Env != env {
		return refusal.New("env", "a task of "+env, "a task of %q", task.Env)
	}
	return nil
}

// Known refuses rules and levels that do not exist. Levels lists those of a rule
// set, and nothing for unknown rules.
func Known(rules, level string, levels func(rules string) []string) error {
	known := levels(rules)
	switch {
	case known == nil:
		return refusal.New("rules", "one of sound, documented", "unknown rules %q", rules)
	case !slices.Contains(known, level):
		return refusal.New("level", "one of "+strings.Join(known, ", "), "unknown level %q under the %s rules", level, rules)
	}
	return nil
}
