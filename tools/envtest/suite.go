package envtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Run checks that the environment of spec keeps the contract. Each check is a
// subtest, so that -run selects one.
func Run(t *testing.T, spec tools.Spec) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), spec); err != nil {
				t.Error(err)
			}
		})
	}
}

// A check is one requirement of the contract. Its error lists the violations.
type check struct {
	name string
	run  func(context.Context, tools.Spec) error
}

func checks() []check {
	return []check{
		{"names and schemas", checkNames},
		{"tasks", eachTask(checkTask)},
		{"tools of a level", eachTask(checkTools)},
		{"unknown rules and levels", checkUnknownNames},
		{"task of another environment", eachTask(checkForeignTask)},
		{"step before reset", eachTask(checkBeforeReset)},
		{"step after the end", eachTask(checkAfterEnd)},
		{"repeated reset", eachTask(checkResetTwice)},
		{"determinism", eachTask(checkDeterminism)},
		{"every tool is callable", eachTask(checkCallable)},
		{"results are objects", eachTask(checkResults)},
		{"invalid calls", eachTask(checkInvalidCalls)},
		{"hostile arguments", eachLevel(checkHostileArguments)},
		{"step limit", eachTask(checkLimit)},
		{"oracle", eachTask(checkOracle)},
		{"messages", eachLevel(checkMessages)},
		{"enumerator", eachTask(checkEnumerator)},
		{"enumerator with invalid input", checkEnumeratorErrors},
		{"concurrent episodes", checkConcurrency},
	}
}

// seeds returns the seeds of the tasks that are checked.
func seeds() []uint64 { return []uint64{0, 17, 1, 1 << 40, math.MaxUint64} }

// A taskCheck checks one task.
type taskCheck func(context.Context, tools.Spec, tools.Task) error

// eachTask runs a check on the task of every seed at every level under every
// rule set that has the level.
func eachTask(run taskCheck) func(context.Context, tools.Spec) error { return each(seeds(), run) }

// eachLevel is like eachTask with one seed, for checks that take long.
func eachLevel(run taskCheck) func(context.Context, tools.Spec) error { return each(seeds()[1:2], run) }

func each(seeds []uint64, run taskCheck) func(context.Context, tools.Spec) error {
	return func(ctx context.Context, spec tools.Spec) error {
		var all []error
		for _, rules := range spec.Rules {
			for _, level := range spec.Levels {
				for _, seed := range seeds {
					if err := runOn(ctx, spec, rules, level, seed, run); err != nil {
						all = append(all, fmt.Errorf("%s/%s/%d %s: %w", spec.Name, level, seed, rules, err))
						break // one failing seed per level is enough
					}
				}
			}
		}
		return errors.Join(all...)
	}
}

// runOn makes the task and checks it. A level that the rules do not have is
// skipped here; checkUnknownNames counts those.
func runOn(ctx context.Context, spec tools.Spec, rules, level string, seed uint64, run taskCheck) error {
	task, err := spec.Task(rules, level, seed)
	if refusal.Is(err, tools.Invalid) {
		return nil
	}
	if err != nil {
		return err
	}
	return run(ctx, spec, task)
}

// wantError returns nil if err is an [*tools.Error] with the code, and otherwise
// an error that describes err.
func wantError(err error, code string) error {
	switch {
	case refusal.Is(err, code):
		return nil
	case err == nil:
		return fmt.Errorf("no error; expected an error with code %s", code)
	}
	return fmt.Errorf("got another error; expected one with code %s: %w", code, err)
}

// difference is cmp.Diff, but cheap if nothing differs.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
