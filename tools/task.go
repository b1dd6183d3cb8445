package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The two rule sets. Sound is the default everywhere.
const (
	Sound      = "sound"
	Documented = "documented"
)

// A Message is one turn of a prompt.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Task is one problem to solve. It never holds the answer: an environment
// derives that again from the seed.
type Task struct {
	ID      string    `json:"id"` // env/level/seed, with @documented under those rules
	Env     string    `json:"env"`
	Level   string    `json:"level"`
	Seed    uint64    `json:"seed"`
	Rules   string    `json:"rules"`
	Prompt  []Message `json:"prompt"`
	Optimal int       `json:"optimal,omitempty"` // length of a shortest solution in calls, where it is known

	// NeedsNoCall marks a task that is solved without any call. It is not part
	// of the JSON form, since it would give the answer away.
	NeedsNoCall bool `json:"-"`
}

// A Spec describes one kind of environment: everything that is needed to list
// it, to make its tasks and to play them.
type Spec struct {
	Name        string
	Description string
	Rules       []string // the first is the default
	Levels      []string // of the default rules; the first is the default

	// Tools lists what is offered at a level; rules and level may be empty for
	// the defaults. NewTask makes the task of a seed and fills in everything
	// but ID, Env, Level, Seed and Rules, which [Spec.Task] sets.
	Tools   func(rules, level string) Set
	NewTask func(rules, level string, seed uint64) (Task, error)
	New     func() Env

	// Oracle, where there is one, solves every task by calling tools.
	Oracle Agent
	// Enumerate, where there is one, makes the Enumerator through which the
	// policy is trained.
	Enumerate func() Enumerator
}

// Task makes a task; empty rules or level mean the default. A name that the
// environment does not have is an [*Error] that lists those it has.
func (s Spec) Task(rules, level string, seed uint64) (Task, error) {
	if rules == "" {
		rules = s.Rules[0]
	}
	if level == "" {
		level = s.Levels[0]
	}
	if err := oneOf("rules", rules, s.Rules); err != nil {
		return Task{}, err
	}
	if err := oneOf("level", level, s.Levels); err != nil {
		return Task{}, err
	}
	task, err := s.NewTask(rules, level, seed)
	if err != nil {
		return Task{}, err
	}
	task.Env, task.Level, task.Seed, task.Rules = s.Name, level, seed, rules
	task.ID = fmt.Sprintf("%s/%s/%d", s.Name, level, seed)
	if rules == Documented {
		task.ID += "@" + Documented
	}
	return task, nil
}

func oneOf(what, have string, known []string) error {
	if slices.Contains(known, have) {
		return nil
	}
	return &Error{Code: Invalid, Where: what, Message: fmt.Sprintf("unknown %s %q", what, clip(have)), Want: "one of " + strings.Join(known, ", ")}
}

// Specs are the environments that a program offers, in the order of display.
type Specs []Spec

// Lookup finds an environment by name.
func (s Specs) Lookup(name string) (Spec, error) {
	names := make([]string, len(s))
	for i, spec := range s {
		if spec.Name == name {
			return spec, nil
		}
		names[i] = spec.Name
	}
	return Spec{}, &Error{Code: NotFound, Where: "env", Message: fmt.Sprintf("unknown environment %q", clip(name)), Want: "one of " + strings.Join(names, ", ")}
}

// Task finds the task of an id, and the environment that plays it.
func (s Specs) Task(id string) (Spec, Task, error) {
	malformed := &Error{Code: Invalid, Where: "task_id", Message: fmt.Sprintf("malformed task id %q", clip(id)), Want: "env/level/seed, with @documented behind it for the documented rules"}
	path, rules, marked := strings.Cut(id, "@")
	parts := strings.Split(path, "/")
	if len(parts) != 3 || parts[1] == "" || marked && rules != Documented {
		return Spec{}, Task{}, malformed
	}
	seed, err := strconv.ParseUint(parts[2], 10, 64)
	if err != nil || strconv.FormatUint(seed, 10) != parts[2] {
		malformed.Want = "a seed from 0 to 18446744073709551615 in plain digits"
		return Spec{}, Task{}, malformed
	}
	spec, err := s.Lookup(parts[0])
	if err != nil {
		return Spec{}, Task{}, err
	}
	if !marked {
		rules = Sound
	}
	task, err := spec.Task(rules, parts[1], seed)
	return spec, task, err
}
