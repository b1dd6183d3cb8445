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

// checkSpeech wants a Speaker to keep what was said, to let nothing be won by
// saying nothing, and an agent that only talks to come to an end.
func checkSpeech(ctx context.Context, spec tools.Spec, task tools.Task) error {
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
				return fmt.Errorf("said %.20q, the step keeps %.20q and call %q", text, step.Message, step.Call.Name)
			}
			if n == patience {
				return fmt.Errorf("no limit for talk within %d messages", patience)
			}
			done = step.Done()
		}
		if env.Success() && (text != "hello" || !task.NeedsNoCall) {
			return fmt.Errorf("saying %.20q succeeds", text)
		}
		if !env.Success() && text == "hello" && task.NeedsNoCall {
			return errors.New("the task needs no call, and a message does not complete it")
		}
	}
	return nil
}

// checkEnumerator plays random plans on the bare machine and, translated into
// calls, in the environment: they succeed together or not at all.
func checkEnumerator(ctx context.Context, spec tools.Spec, task tools.Task) error {
	if spec.Enumerate == nil {
		return nil
	}
	e := spec.Enumerate()
	if err := e.Start(task.Rules, task.Level, task.Seed); refusal.Is(err, tools.Invalid) {
		return nil // not every level can be enumerated
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
	draw := rand.New(rand.NewPCG(task.Seed, 3))
	for range 50 {
		plan := make([]int, e.Limit()+2)
		for i := range plan {
			plan[i] = draw.IntN(v.Size)
			if draw.Uint32N(4) > 0 {
				plan[i] = v.FirstTool + draw.IntN(v.LastTool-v.FirstTool+1)
			}
		}
		if err := playPlan(ctx, spec, e, task, plan); err != nil {
			return fmt.Errorf("plan %v: %w", plan, err)
		}
	}
	return nil
}

// checkVocabulary reports a vocabulary that is invalid, and tokens without a text
// of their own.
func checkVocabulary(e tools.Enumerator) error {
	v := e.Vocabulary()
	if err := v.Validate(); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	tokens := map[string]int{}
	for token := range v.Size {
		text := e.Token(token)
		if other, ok := tokens[text]; ok || text == "" {
			return fmt.Errorf("tokens %d and %d have the text %q", other, token, text)
		}
		tokens[text] = token
	}
	return nil
}

// checkContext reports a context with tokens outside of the vocabulary, and one
// that is not appended to what the buffer holds.
func checkContext(e tools.Enumerator) error {
	vocabulary := e.Vocabulary().Size
	context := e.Context(nil)
	if len(context) == 0 || slices.Min(context) < 0 || slices.Max(context) >= vocabulary {
		return fmt.Errorf("context %v: want tokens from 0 to %d", context, vocabulary-1)
	}
	if diff := cmp.Diff(append([]int{7, 7}, context...), e.Context([]int{7, 7})); diff != "" {
		return fmt.Errorf("the context is not appended:\n%s", diff)
	}
	return nil
}

// playPlan plays a plan twice on the machine and once in the environment.
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
		return fmt.Errorf("reward, steps and success are %s, then %s", outcomes[0], outcomes[1])
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
		return fmt.Errorf("success %v on the machine, %v by calls", e.Success(), env.Success())
	}
	return nil
}

// act plays tokens to the end of the task, and goes on behind it.
func act(e tools.Enumerator, plan []int) (total float64, steps int, err error) {
	over := false
	for _, token := range plan {
		reward, done := e.Act(token)
		if over && (reward != 0 || !done) {
			return 0, 0, errors.New("a token behind the end has an effect")
		}
		if !over {
			steps++
		}
		total += reward
		over = done
	}
	if !over || steps > e.Limit() {
		return 0, 0, fmt.Errorf("%d tokens played, over %v, with a limit of %d", steps, over, e.Limit())
	}
	return total, steps, nil
}

// checkEnumeratorRefusals wants unknown names and tokens refused.
func checkEnumeratorRefusals(_ context.Context, spec tools.Spec) error {
	if spec.Enumerate == nil {
		return nil
	}
	e := spec.Enumerate()
	for _, name := range [][2]string{{"no such name", spec.Levels[0]}, {spec.Rules[0], "no such name"}} {
		if err := wantRefusal(e.Start(name[0], name[1], 1), tools.Invalid); err != nil {
			return fmt.Errorf("rules %q, level %q: %w", name[0], name[1], err)
		}
	}
	task, err := spec.Task("", "", 1)
	if err != nil {
		return err
	}
	for _, plan := range [][]int{{e.Vocabulary().Size}, {-1}} {
		_, err := e.Calls(task, plan)
		if err := wantRefusal(err, tools.Invalid); err != nil {
			return fmt.Errorf("calls of plan %v: %w", plan, err)
		}
	}
	calls, err := e.Calls(task, nil)
	if err == nil && len(calls) != 0 {
		return fmt.Errorf("calls of no plan: %v", calls)
	}
	return err
}
