package episode

import (
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Of refuses another environment's task.
func CheckEnv(env string, task tools.Task) error {
	if task.Env != env {
		return refusal.New("env", "a task of "+env, "a task of %q", task.Env)
	}
	return nil
}

// Known refuses rules and levels that do not exist. Levels lists those of a rule
// set, and nothing for unknown rules.
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

// Turns counts the steps of one episode. The zero value is an episode that has
// not begun.
type Turns struct {
	limit, taken   int
	begun, running bool
}

// Begin starts an episode of at most limit turns.
func (t *Turns) Begin(limit int) { *t = Turns{limit: limit, begun: true, running: true} }

// Open reports, as an [*tools.Error] with code Conflict, that no step can be
// taken: before the first Begin and after the end.
func (t *Turns) CheckRunning() error {
	switch {
	case t.running:
		return nil
	case t.begun:
		return &tools.Error{Code: tools.Conflict, Message: "the episode is over", Want: "a reset before the next step"}
	}
	return &tools.Error{Code: tools.Conflict, Message: "no episode has begun", Want: "a reset before the first step"}
}

// Take spends a turn and makes its step: a termination when the task has come
// to its end, else a truncation at the limit, else a transition.
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
