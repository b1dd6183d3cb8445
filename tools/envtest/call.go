package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
	"toolgym/tools/baseline"
)

// checkCallable checks that a valid call of each tool, made as the first call of
// an episode, reaches the tool.
func checkCallable(ctx context.Context, spec tools.Spec, task tools.Task) error {
	env := spec.New()
	for _, tool := range spec.Tools(task.Rules, task.Level) {
		if _, err := env.Reset(ctx, task); err != nil {
			return err
		}
		one := &single{Caller: env, tool: tool}
		if err := baseline.Random(rand.NewPCG(task.Seed, 2)).Play(ctx, task, nil, one); err != nil {
			return fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		if content := string(one.step.Result.Content); one.step.Result.IsError && strings.Contains(content, "unknown tool") {
			return fmt.Errorf("tool %s is listed but unknown: %s", tool.Name, content)
		}
		if diff := cmp.Diff(one.call, one.step.Call); diff != "" {
			return fmt.Errorf("the step has another call than the one made (-made +step):\n%s", diff)
		}
	}
	return nil
}

// single is a Caller that lists one tool and ends after one call.
type single struct {
	tools.Caller
	tool tools.Tool
	call tools.Call
	step tools.Step
}

func (s *single) Tools() tools.Set { return tools.Set{s.tool} }

func (s *single) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	var err error
	s.call = call
	s.step, err = s.Caller.Step(ctx, call)
	return tools.Termination(call, s.step.Result, 0), err
}

// checkResults checks that the first observation and every result is a JSON
// object, and that an error result is {"error": message}.
func checkResults(ctx context.Context, spec tools.Spec, task tools.Task) error {
	trajectory, err := playRandom(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(trajectory.Observation, &object); err != nil || object == nil {
		return fmt.Errorf("the first observation is %s; expected a JSON object", trajectory.Observation)
	}
	for i, step := range trajectory.Steps {
		var object map[string]any
		if err := json.Unmarshal(step.Result.Content, &object); err != nil || object == nil {
			return fmt.Errorf("the result of step %d is %s; expected a JSON object", i, step.Result.Content)
		}
		if message, _ := object["error"].(string); step.Result.IsError && strings.TrimSpace(message) == "" {
			return fmt.Errorf("the error result of step %d has no message: %s", i, step.Result.Content)
		}
	}
	return nil
}

// checkInvalidCalls plays an episode twice, the second time with an invalid call
// before each call. The steps must be equal until one of the episodes ends.
func checkInvalidCalls(ctx context.Context, spec tools.Spec, task tools.Task) error {
	plain, err := playRandom(ctx, spec.New(), task)
	if err != nil {
		return err
	}
	env := spec.New()
	if _, err := env.Reset(ctx, task); err != nil {
		return err
	}
	for i, want := range plain.Steps {
		before := env.Success()
		step, err := env.Step(ctx, invalidCall(env.Tools(), i))
		if err != nil {
			return err
		}
		if !step.Result.IsError {
			return fmt.Errorf("the invalid call %s %s has the result %s; expected an error result", step.Call.Name, step.Call.Arguments, step.Result.Content)
		}
		if env.Success() != before {
			return errors.New("an invalid call changed success")
		}
		if step.Done() {
			return nil
		}
		got, err := env.Step(ctx, want.Call)
		if err != nil {
			return err
		}
		if got.Done() != want.Done() || got.Truncated != want.Truncated {
			return checkEarlyEnd(got, want)
		}
		if diff := difference(want, got); diff != "" {
			return fmt.Errorf("step %d differs after an invalid call (-without +with):\n%s", i, diff)
		}
	}
	return nil
}

// checkEarlyEnd allows an episode with invalid calls to be truncated earlier, as
// invalid calls take steps, and no other difference. A tool may take several
// steps, and be truncated before the one that would have ended the task.
func checkEarlyEnd(got, want tools.Step) error {
	if got.Truncated && !want.Truncated {
		return nil
	}
	return fmt.Errorf("the episode ends with %+v after invalid calls, and with %+v without them", got, want)
}

// invalidCall returns a call that the tools must reject. i selects the kind.
func invalidCall(set tools.Set, i int) tools.Call {
	tool := set[i%len(set)].Name
	kinds := []tools.Call{
		unknownCall(),
		{Name: tool, Arguments: json.RawMessage(`{"no such argument":1}`)},
		{Name: tool, Arguments: json.RawMessage(`[]`)},
		{Name: tool, Arguments: json.RawMessage(`{`)},
		{Name: tool, Arguments: json.RawMessage(`null`)},
		{Name: strings.ToUpper(tool), Arguments: json.RawMessage(`{}`)},
		{},
	}
	return kinds[i%len(kinds)]
}

// checkHostileArguments checks that malicious arguments give error results.
func checkHostileArguments(ctx context.Context, spec tools.Spec, task tools.Task) error {
	const deep = 10_000
	hostile := map[string]string{
		"nested objects":   strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"nested lists":     `{"a":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}",
		"a megabyte":       `{"a":"` + strings.Repeat("x", 1<<20) + `"}`,
		"many keys":        `{"k` + strings.Join(strings.Fields(strings.Repeat("k ", deep)), `":1,"k`) + `":1}`,
		"a huge number":    `{"a":1e999999999,"value":1e999999999}`,
		"a duplicate key":  `{"a":1,"a":2}`,
		"a lone surrogate": `{"a":"\ud800"}`,
		"invalid UTF-8":    "{\"a\":\"\xff\"}",
		"not JSON":         "a=1",
		"two values":       "{} {}",
	}
	for name, arguments := range hostile {
		for _, tool := range spec.Tools(task.Rules, task.Level) {
			env := spec.New()
			if _, err := env.Reset(ctx, task); err != nil {
				return err
			}
			step, err := env.Step(ctx, tools.Call{Name: tool.Name, Arguments: json.RawMessage(arguments)})
			if err != nil {
				return fmt.Errorf("%s for %s: %w", name, tool.Name, err)
			}
			if !step.Result.IsError || env.Success() {
				return fmt.Errorf("%s for %s: accepted with the result %s", name, tool.Name, step.Result.Content)
			}
			if len(step.Result.Content) > 10_000 {
				return fmt.Errorf("%s for %s: the error result has %d bytes; expected at most 10000", name, tool.Name, len(step.Result.Content))
			}
		}
	}
	return nil
}
