package episode

import (
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// CheckEnv returns an [*tools.Error] with code Invalid if the task belongs to another
// environment.
func CheckEnv(env string, task tools.Task) error {
	if task.Env != env {
		return refusal.New("env", "a task of "+env, "task of environment %q", task.Env)
	}
	return nil
}

// CheckLevel returns an [*tools.Error] with code Invalid for unknown rules or levels.
// levels returns the levels of a rule set, or nil for unknown rules.
func CheckLevel(rules, level string, levels func(rules string) []string) error {
	known := levels(rules)
	switch {
	case known == nil:
		return refusal.New("rules", "one of sound, documented", "unknown rules %q", rules)
	case !slices.Contains(known, level):
		return refusal.New("level", "one of "+strings.Join(known, ", "), "unknown level %q under the %s rules", level, rules)
	}
	return nil
}

// Turns counts the steps of an episode. The zero value has no episode.
type Turns struct {
	limit, taken   int
	begun, running bool
}

// Begin starts an episode of at most limit steps.
func (t *Turns) Begin(limit int) { *t = Turns{limit: limit, begun: true, running: true} }

// CheckRunning returns an [*tools.Error] with code Conflict if no episode is running:
// before the first Begin and after the end.
func (t *Turns) CheckRunning() error {
	switch {
	case t.running:
		return nil
	case t.begun:
		return &tools.Error{Code: tools.Conflict, Message: "the episode is over", Want: "a reset before the next step"}
	}
	return &tools.Error{Code: tools.Conflict, Message: "no episode has begun", Want: "a reset before the first step"}
}

// Step counts a step and returns it: a termination if the task has ended, else a
// truncation at the limit, else a transition.
func (t *Turns) Step(call tools.Call, result tools.Result, reward float64, ended bool) tools.Step {
	t.taken++
	switch {
	case ended:
		t.running = false
		return tools.Termination(call, result, reward)
	case t.taken >= t.limit:
		t.running = false
		return tools.Truncation(call, result, reward)
	}
	return tools.Transition(call, result, reward)
}
