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

// Run checks that everything the spec describes keeps the contract.
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

// A check is one promise of the contract. Its error lists what broke it.
type check struct {
	name string
	run  func(context.Context, tools.Spec) error
}

func checks() []check {
	return []check{
		{"names and schemas", checkNames},
		{"tasks", eachTask(checkTask)},
		{"tools of a level", eachTask(checkTools)},
		{"unknown names are refused", checkRefusals},
		{"a foreign task is refused", eachTask(checkForeignTask)},
		{"step before reset", eachTask(checkBeforeReset)},
		{"step after the end", eachTask(checkAfterEnd)},
		{"reset twice", eachTask(checkResetTwice)},
		{"same calls, same bytes", eachTask(checkSameBytes)},
		{"every tool is callable", eachTask(checkCallable)},
		{"results are objects", eachTask(checkResults)},
		{"invalid calls change nothing", eachTask(checkInvalidCalls)},
		{"hostile arguments", eachLevel(checkHostileArguments)},
		{"the limit truncates", eachTask(checkLimit)},
		{"the oracle solves every task", eachTask(checkOracle)},
		{"speech", eachLevel(checkSpeech)},
		{"enumerator", eachTask(checkEnumerator)},
		{"enumerator refuses unknown names", checkEnumeratorRefusals},
		{"episodes at the same time", checkConcurrency},
	}
}

// seeds are those that every task check goes through.
func seeds() []uint64 { return []uint64{0, 17, 1, 1 << 40, math.MaxUint64} }

// A taskCheck is a promise that is checked task by task.
type taskCheck func(context.Context, tools.Spec, tools.Task) error

// eachTask runs a check on the task of every seed, at every level, under every
// rule set that knows the level.
func eachTask(run taskCheck) func(context.Context, tools.Spec) error { return each(seeds(), run) }

// eachLevel does so for one seed, where the check takes long.
func eachLevel(run taskCheck) func(context.Context, tools.Spec) error { return each(seeds()[1:2], run) }

func each(seeds []uint64, run taskCheck) func(context.Context, tools.Spec) error {
	return func(ctx context.Context, spec tools.Spec) error {
		var all []error
		for _, rules := range spec.Rules {
			for _, level := range spec.Levels {
				for _, seed := range seeds {
					if err := runOn(ctx, spec, rules, level, seed, run); err != nil {
						all = append(all, fmt.Errorf("%s/%s/%d %s: %w", spec.Name, level, seed, rules, err))
						break // one seed of a level is enough to know
					}
				}
			}
		}
		return errors.Join(all...)
	}
}

// runOn makes the task and checks it. Rules need not know every level: that is
// what checkRefusals counts.
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

// wantRefusal is nil for an error that is refused, and says what else it was.
func wantRefusal(err error, code string) error {
	switch {
	case refusal.Is(err, code):
		return nil
	case err == nil:
		return fmt.Errorf("accepted, want an error with code %s", code)
	}
	return fmt.Errorf("want an error with code %s: %w", code, err)
}

// differ is cmp.Diff, at no cost where nothing differs.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
