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

// maxSteps limits the steps of an episode that should end by itself.
const maxSteps = 100_000

// unknownCall returns a call of a tool that no environment has.
func unknownCall() tools.Call { return tools.Call{Name: "no such tool"} }

// playRandom plays a task with random calls, which depend on the task's seed only.
func playRandom(ctx context.Context, env tools.Env, task tools.Task) (tools.Trajectory, error) {
	return tools.Rollout(ctx, env, task, baseline.Random(rand.NewPCG(task.Seed, 1)))
}

// checkForeignTask checks that a task of another environment is an error with
// code Invalid, and that the running episode then continues.
func checkForeignTask(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	foreign := task
	foreign.Env = "another"
	_, err := env.Reset(ctx, foreign)
	if err := wantError(err, tools.Invalid); err != nil {
		return err
	}
	if _, err := env.Step(ctx, unknownCall()); err != nil {
		return fmt.Errorf("the running episode has ended: %w", err)
	}
	return nil
}

// checkBeforeReset checks that a step before the first reset is a conflict, that
// Success is false then, and that the Env can be used afterwards.
func checkBeforeReset(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	if env.Success() {
		return errors.New("Success is true before the first reset")
	}
	if err := checkNoEpisode(ctx, env, unknownCall()); err != nil {
		return err
	}
	_, err := playRandom(ctx, env, task)
	return err
}

// checkNoEpisode checks that a call and a message outside of an episode are
// conflicts.
func checkNoEpisode(ctx context.Context, env tools.Env, call tools.Call) error {
	step, err := env.Step(ctx, call)
	if err := wantError(err, tools.Conflict); err != nil {
		return err
	}
	if diff := difference(tools.Step{}, step); diff != "" {
		return fmt.Errorf("the step returned with the error is not empty:\n%s", diff)
	}
	s, ok := env.(tools.Speaker)
	if !ok {
		return nil
	}
	if _, err := s.Say(ctx, "hello"); !refusal.Is(err, tools.Conflict) {
		return fmt.Errorf("saying hello: %w", wantError(err, tools.Conflict))
	}
	return nil
}

// checkAfterEnd checks that a step after the end is a conflict and changes nothing.
func checkAfterEnd(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	trajectory, err := playRandom(ctx, env, task)
	if err != nil {
		return err
	}
	last := trajectory.Steps[len(trajectory.Steps)-1].Call
	for _, call := range []tools.Call{last, unknownCall()} {
		if err := checkNoEpisode(ctx, env, call); err != nil {
			return err
		}
	}
	if env.Success() != trajectory.Success {
		return errors.New("Success changed after the end")
	}
	if diff := cmp.Diff(spec.Tools(task.Rules, task.Level).Names(), env.Tools().Names()); diff != "" {
		return fmt.Errorf("the tools changed after the end:\n%s", diff)
	}
	return nil
}

// checkResetTwice checks that an Env that has played other episodes, complete or
// not, plays an episode like a new Env.
func checkResetTwice(ctx context.Context, spec tools.Spec, task tools.Task) error {
	want, err := playRandom(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	env := spec.New()
	for _, agent := range []tools.Agent{baseline.Random(rand.NewPCG(9, 9)), baseline.Idle(), baseline.Idle()} {
		if _, err := tools.Rollout(ctx, env, task, agent); err != nil {
			return err
		}
		if env.Success() && agent == baseline.Idle() {
			return errors.New("Success is true right after a reset")
		}
	}
	got, err := playRandom(ctx, env, task)
	if err != nil {
		return err
	}
	if diff := difference(want.Steps, got.Steps); diff != "" {
		return fmt.Errorf("an episode in a used Env differs (-new +used):\n%s", diff)
	}
	return nil
}

// checkDeterminism checks that the same calls give a trajectory with the same
// JSON.
func checkDeterminism(ctx context.Context, spec tools.Spec, task tools.Task) error {
	first, err := playRandom(ctx, spec.New(), task)
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
		return fmt.Errorf("the same calls give different JSON:\n%s", cmp.Diff(string(a), string(b)))
	}
	return nil
}

// replay is an agent that repeats the calls of earlier steps.
type replay struct{ steps []tools.Step }

func (r replay) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, step := range r.steps {
		if _, err := caller.Step(ctx, step.Call); err != nil {
			return err
		}
	}
	return nil
}

// checkLimit checks that an episode of invalid calls is truncated, unless the
// first call terminates it. Calls of unknown tools and calls with invalid
// arguments must take the same number of steps.
func checkLimit(ctx context.Context, spec tools.Spec, task tools.Task) error {
	unknown, err := stepsToEnd(ctx, spec, task, func(tools.Set, int) tools.Call { return unknownCall() })
	if err != nil {
		return err
	}
	mixed, err := stepsToEnd(ctx, spec, task, invalidCall)
	if err != nil {
		return err
	}
	if mixed != unknown {
		return fmt.Errorf("the limit is %d steps with unknown tools and %d with invalid arguments", unknown, mixed)
	}
	return nil
}

// stepsToEnd makes the calls of next until the episode ends and returns their
// number.
func stepsToEnd(ctx context.Context, spec tools.Spec, task tools.Task, next func(tools.Set, int) tools.Call) (int, error) {
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return 0, err
	}
	for n := range maxSteps {
		step, err := env.Step(ctx, next(env.Tools(), n))
		switch {
		case err != nil:
			return 0, err
		case step.Terminated && step.Truncated:
			return 0, errors.New("a step is both terminated and truncated")
		case step.Terminated && n > 0:
			return 0, fmt.Errorf("terminated after %d invalid calls; expected truncated", n+1)
		case step.Done() && env.Success():
			return 0, errors.New("invalid calls solve the task")
		case step.Done():
			return n + 1, nil
		}
	}
	return 0, fmt.Errorf("the episode has not ended after %d steps", maxSteps)
}

// checkOracle checks that the oracle solves tasks, and with no fewer calls than
// Task.Optimal.
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
			return fmt.Errorf("seed %d: solved with %d calls, fewer than the optimum %d", task.Seed, len(trajectory.Steps), task.Optimal)
		}
		if task, err = spec.Task(task.Rules, task.Level, task.Seed*6364136223846793005+1); err != nil {
			return err
		}
	}
	return nil
}

// checkMessages checks that the step of a message has its text, that an empty
// message solves no task, and that an episode of messages alone ends.
func checkMessages(ctx context.Context, spec tools.Spec, task tools.Task) error {
	for _, text := range []string{"", " \n\t\u200b", "hello", string(make([]byte, 1<<20)), "\xff\xfe"} {
		env := spec.New()
		speaker, ok := env.(tools.Speaker)
		if !ok {
			return nil
		}
		if _, err := env.Reset(ctx, task); err != nil {
			return err
		}
		done := false
		for n := 0; !done; n++ {
			step, err := speaker.Say(ctx, text)
			if err != nil {
				return err
			}
			if step.Message != text || step.Call.Name != "" || step.Result.Content != nil {
				return fmt.Errorf("message %.20q: the step has message %.20q and call %q", text, step.Message, step.Call.Name)
			}
			if n == maxSteps {
				return fmt.Errorf("the episode has not ended after %d messages", maxSteps)
			}
			done = step.Done()
		}
		if env.Success() && (text != "hello" || !task.NeedsNoCall) {
			return fmt.Errorf("message %.20q solves the task", text)
		}
		if !env.Success() && text == "hello" && task.NeedsNoCall {
			return errors.New("the task needs no call, but a message does not solve it")
		}
	}
	return nil
}

// checkConcurrency plays episodes of one spec interleaved and concurrently. They
// must not affect each other; run the test with -race as well.
func checkConcurrency(ctx context.Context, spec tools.Spec) error {
	if err := eachTask(checkInterleaved)(ctx, spec); err != nil {
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

// checkInterleaved plays other episodes between the steps of an episode.
func checkInterleaved(ctx context.Context, spec tools.Spec, task tools.Task) error {
	want, err := playRandom(ctx, spec.New(), task)
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
		if diff := difference(step, got); diff != "" {
			return fmt.Errorf("step %d differs if another episode is played before it:\n%s", i, diff)
		}
		if i < 3 {
			if _, err := playRandom(ctx, spec.New(), task); err != nil {
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
		if err := checkDeterminism(ctx, spec, task); err != nil {
			return err
		}
	}
	return nil
}
