package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

// patience bounds the steps of an episode that ought to end by itself.
const patience = 100_000

// unknown is a call that no environment has a tool for.
func unknown() tools.Call { return tools.Call{Name: "no such tool"} }

// roll plays a task at random; the source is the task's seed.
func roll(ctx context.Context, env tools.Env, task tools.Task) (tools.Trajectory, error) {
	return tools.Rollout(ctx, env, task, baseline.Random(rand.NewPCG(task.Seed, 1)))
}

// checkForeignTask wants another environment's task refused, and the running
// episode untouched by that.
func checkForeignTask(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	foreign := task
	foreign.Env = "another"
	_, err := env.Reset(ctx, foreign)
	if err := wantRefusal(err, tools.Invalid); err != nil {
		return err
	}
	if _, err := env.Step(ctx, unknown()); err != nil {
		return fmt.Errorf("the running episode is gone: %w", err)
	}
	return nil
}

// checkBeforeReset wants a conflict, no success, and an Env that works after.
func checkBeforeReset(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	if env.Success() {
		return errors.New("success before the first reset")
	}
	if err := checkClosed(ctx, env, unknown()); err != nil {
		return err
	}
	_, err := roll(ctx, env, task)
	return err
}

// checkClosed wants a call and a message refused outside of an episode.
func checkClosed(ctx context.Context, env tools.Env, call tools.Call) error {
	step, err := env.Step(ctx, call)
	if err := wantRefusal(err, tools.Conflict); err != nil {
		return err
	}
	if diff := differ(tools.Step{}, step); diff != "" {
		return fmt.Errorf("a refused step is not empty:\n%s", diff)
	}
	s, ok := env.(tools.Speaker)
	if !ok {
		return nil
	}
	if _, err := s.Say(ctx, "hello"); !refusal.Is(err, tools.Conflict) {
		return fmt.Errorf("speaking: %w", wantRefusal(err, tools.Conflict))
	}
	return nil
}

// checkAfterEnd wants a conflict for a step after the end, and nothing changed.
func checkAfterEnd(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	trajectory, err := roll(ctx, env, task)
	if err != nil {
		return err
	}
	last := trajectory.Steps[len(trajectory.Steps)-1].Call
	for _, call := range []tools.Call{last, unknown()} {
		if err := checkClosed(ctx, env, call); err != nil {
			return err
		}
	}
	if env.Success() != trajectory.Success {
		return errors.New("success changed after the end")
	}
	if diff := cmp.Diff(spec.Tools(task.Rules, task.Level).Names(), env.Tools().Names()); diff != "" {
		return fmt.Errorf("the tools changed after the end:\n%s", diff)
	}
	return nil
}

// checkResetTwice wants an episode after others, broken off or not, to be what
// it is in a new Env.
func checkResetTwice(ctx context.Context, spec tools.Spec, task tools.Task) error {
	want, err := roll(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	env := spec.New()
	for _, agent := range []tools.Agent{baseline.Random(rand.NewPCG(9, 9)), baseline.Idle(), baseline.Idle()} {
		if _, err := tools.Rollout(ctx, env, task, agent); err != nil {
			return err
		}
		if env.Success() && agent == baseline.Idle() {
			return errors.New("success right after a reset")
		}
	}
	got, err := roll(ctx, env, task)
	if err != nil {
		return err
	}
	if diff := differ(want.Steps, got.Steps); diff != "" {
		return fmt.Errorf("an episode after others differs (-new +used):\n%s", diff)
	}
	return nil
}

// checkSameBytes wants a trajectory played twice, and replayed call by call, to
// have the same JSON.
func checkSameBytes(ctx context.Context, spec tools.Spec, task tools.Task) error {
	first, err := roll(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	again, err := tools.Rollout(ctx, spec.New(), task, replay{first.Steps})
	if err != nil {
		return err
	}
	a, errA := json.Marshal(first)
	b, errB := json.Marshal(again)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("the same calls give other bytes:\n%s", cmp.Diff(string(a), string(b)))
	}
	return nil
}

// replay is an agent that makes the calls of steps played before.
type replay struct{ steps []tools.Step }

func (r replay) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, step := range r.steps {
		if _, err := caller.Step(ctx, step.Call); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit wants an episode of useless calls to be truncated, unless the
// first call ends it by the task's rules. Calls of unknown tools and invalid
// calls of known ones spend a step alike.
func checkLimit(ctx context.Context, spec tools.Spec, task tools.Task) error {
	unknownOnly, err := exhaust(ctx, spec, task, func(tools.Set, int) tools.Call { return unknown() })
	if err != nil {
		return err
	}
	mixed, err := exhaust(ctx, spec, task, invalid)
	if err != nil {
		return err
	}
	if mixed != unknownOnly {
		return fmt.Errorf("the limit is %d for unknown tools and %d for invalid calls", unknownOnly, mixed)
	}
	return nil
}

// exhaust makes useless calls to the end and returns how many it took.
func exhaust(ctx context.Context, spec tools.Spec, task tools.Task, useless func(tools.Set, int) tools.Call) (int, error) {
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return 0, err
	}
	for n := range patience {
		step, err := env.Step(ctx, useless(env.Tools(), n))
		switch {
		case err != nil:
			return 0, err
		case step.Terminated && step.Truncated:
			return 0, errors.New("a step is both terminated and truncated")
		case step.Terminated && n > 0:
			return 0, fmt.Errorf("terminated after %d useless calls, want truncated", n+1)
		case step.Done() && env.Success():
			return 0, errors.New("useless calls succeed")
		case step.Done():
			return n + 1, nil
		}
	}
	return 0, fmt.Errorf("no limit within %d steps", patience)
}

// checkOracle wants the oracle to succeed, and not with fewer calls than the
// task says are needed.
func checkOracle(ctx context.Context, spec tools.Spec, task tools.Task) error {
	if spec.Oracle == nil {
		return nil
	}
	for range 8 {
		trajectory, err := tools.Rollout(ctx, spec.New(), task, spec.Oracle)
		if err != nil {
			return err
		}
		if !trajectory.Success || !trajectory.Terminated {
			return fmt.Errorf("seed %d: success %v, terminated %v after %d steps", task.Seed, trajectory.Success, trajectory.Terminated, len(trajectory.Steps))
		}
		if len(trajectory.Steps) < task.Optimal {
			return fmt.Errorf("seed %d: solved in %d calls, where %d are said to be optimal", task.Seed, len(trajectory.Steps), task.Optimal)
		}
		if task, err = spec.Task(task.Rules, task.Level, task.Seed*6364136223846793005+1); err != nil {
			return err
		}
	}
	return nil
}

// checkConcurrency plays episodes of one spec in turns and at the same time:
// they must not disturb each other (run it with -race).
func checkConcurrency(ctx context.Context, spec tools.Spec) error {
	if err := eachTask(checkTurns)(ctx, spec); err != nil {
		return err
	}
	const players = 8
	results := make(chan error, players)
	var playing sync.WaitGroup
	for player := range players {
		goroutine.Go(&playing, func() { results <- playAll(ctx, spec, uint64(player%2)) }, func(err error) { results <- err })
	}
	var all []error
	for range players {
		all = append(all, <-results)
	}
	playing.Wait()
	return errors.Join(all...)
}

// checkTurns plays a second episode between the steps of the first.
func checkTurns(ctx context.Context, spec tools.Spec, task tools.Task) error {
	want, err := roll(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	for i, step := range want.Steps {
		got, err := env.Step(ctx, step.Call)
		if err != nil {
			return err
		}
		if diff := differ(step, got); diff != "" {
			return fmt.Errorf("step %d differs with another episode in between:\n%s", i, diff)
		}
		if i < 3 {
			if _, err := roll(ctx, spec.New(), task); err != nil {
				return err
			}
		}
	}
	return nil
}

func playAll(ctx context.Context, spec tools.Spec, seed uint64) error {
	for _, level := range spec.Levels {
		task, err := spec.Task("", level, seed)
		if err != nil {
			return err
		}
		if err := checkSameBytes(ctx, spec, task); err != nil {
			return err
		}
	}
	return nil
}
