package envtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// checkEnumerator plays random plans with the enumerator and, translated into
// calls, in the environment. Both must agree on success.
func checkEnumerator(ctx context.Context, spec tools.Spec, task tools.Task) error {
	if spec.Enumerate == nil {
		return nil
	}
	e := spec.Enumerate()
	if err := e.Start(task.Rules, task.Level, task.Seed); refusal.Is(err, tools.Invalid) {
		return nil // the enumerator need not support every level
	} else if err != nil {
		return err
	}
	if err := checkVocabulary(e); err != nil {
		return err
	}
	if err := checkContext(e); err != nil {
		return err
	}
	v := e.Vocabulary()
	random := rand.New(rand.NewPCG(task.Seed, 3))
	for range 50 {
		plan := make([]int, e.Limit()+2)
		for i := range plan {
			plan[i] = random.IntN(v.Size)
			if random.Uint32N(4) > 0 {
				plan[i] = v.FirstTool + random.IntN(v.LastTool-v.FirstTool+1)
			}
		}
		if err := playPlan(ctx, spec, e, task, plan); err != nil {
			return fmt.Errorf("plan %v: %w", plan, err)
		}
	}
	return nil
}

// checkVocabulary checks that the vocabulary is valid and that the texts of the
// tokens are unique.
func checkVocabulary(e tools.Enumerator) error {
	v := e.Vocabulary()
	if err := v.Validate(); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	tokens := map[string]int{}
	for token := range v.Size {
		text := e.Token(token)
		if other, ok := tokens[text]; ok || text == "" {
			return fmt.Errorf("tokens %d and %d both have the text %q", other, token, text)
		}
		tokens[text] = token
	}
	return nil
}

// checkContext checks that the context consists of tokens of the vocabulary and
// is appended to the buffer.
func checkContext(e tools.Enumerator) error {
	vocabulary := e.Vocabulary().Size
	context := e.Context(nil)
	if len(context) == 0 || slices.Min(context) < 0 || slices.Max(context) >= vocabulary {
		return fmt.Errorf("context %v; expected tokens from 0 to %d", context, vocabulary-1)
	}
	if diff := cmp.Diff(append([]int{7, 7}, context...), e.Context([]int{7, 7})); diff != "" {
		return fmt.Errorf("the context is not appended to the buffer:\n%s", diff)
	}
	return nil
}

// playPlan plays a plan twice with the enumerator and once in the environment.
func playPlan(ctx context.Context, spec tools.Spec, e tools.Enumerator, task tools.Task, plan []int) error {
	var outcomes [2]string
	for i := range outcomes {
		if err := e.Start(task.Rules, task.Level, task.Seed); err != nil {
			return err
		}
		total, steps, err := act(e, plan)
		if err != nil {
			return err
		}
		outcomes[i] = fmt.Sprint(total, steps, e.Success())
	}
	if outcomes[0] != outcomes[1] {
		return fmt.Errorf("reward, steps and success are %s the first time, and %s the second time", outcomes[0], outcomes[1])
	}
	calls, err := e.Calls(task, plan)
	if err != nil {
		return err
	}
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	for i, call := range calls {
		step, err := env.Step(ctx, call)
		if err != nil {
			return fmt.Errorf("call %d of %d: %w", i, len(calls), err)
		}
		if step.Done() {
			break
		}
	}
	if env.Success() != e.Success() {
		return fmt.Errorf("success %v with the enumerator and %v with the calls", e.Success(), env.Success())
	}
	return nil
}

// act plays all tokens of a plan. Those after the end must have no effect.
func act(e tools.Enumerator, plan []int) (total float64, steps int, err error) {
	over := false
	for _, token := range plan {
		reward, done := e.Act(token)
		if over && (reward != 0 || !done) {
			return 0, 0, errors.New("a token after the end has an effect")
		}
		if !over {
			steps++
		}
		total += reward
		over = done
	}
	if !over || steps > e.Limit() {
		return 0, 0, fmt.Errorf("%d tokens played, done %v, with a limit of %d", steps, over, e.Limit())
	}
	return total, steps, nil
}

// checkEnumeratorErrors checks that unknown names and tokens are errors with code
// Invalid.
func checkEnumeratorErrors(_ context.Context, spec tools.Spec) error {
	if spec.Enumerate == nil {
		return nil
	}
	e := spec.Enumerate()
	for _, name := range [][2]string{{"no such name", spec.Levels[0]}, {spec.Rules[0], "no such name"}} {
		if err := wantError(e.Start(name[0], name[1], 1), tools.Invalid); err != nil {
			return fmt.Errorf("rules %q, level %q: %w", name[0], name[1], err)
		}
	}
	task, err := spec.Task("", "", 1)
	if err != nil {
		return err
	}
	for _, plan := range [][]int{{e.Vocabulary().Size}, {-1}} {
		_, err := e.Calls(task, plan)
		if err := wantError(err, tools.Invalid); err != nil {
			return fmt.Errorf("calls of plan %v: %w", plan, err)
		}
	}
	calls, err := e.Calls(task, nil)
	if err == nil && len(calls) != 0 {
		return fmt.Errorf("an empty plan gives the calls %v; expected none", calls)
	}
	return err
}
