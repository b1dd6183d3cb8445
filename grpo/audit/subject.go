package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// A subject is a task under attack: how it is graded, what the model sees, and
// the calls that solve it.
type subject struct {
	name   string
	group  grpo.Group
	tools  tools.Set
	prompt string
	right  []tools.Call // at least one
	said   string       // the right last words, where the task asks for some
}

// subjects are tasks of expected calls, without and with an answer, and one of
// each level of the
// environments that needs calls and whose calls the oracle knows.
func subjects(ctx context.Context, envs tools.Specs) ([]subject, error) {
	calls, err := expectedSubject("expected calls", nil, "")
	if err != nil {
		return nil, err
	}
	answer, err := expectedSubject("expected answer", &match.Answer{Value: json.Number("4")}, "The high is 4 degrees.")
	if err != nil {
		return nil, err
	}
	all := []subject{calls, answer}
	for _, spec := range envs {
		if spec.Oracle == nil {
			continue
		}
		for _, level := range spec.Levels {
			s, err := playedSubject(ctx, spec, level)
			if err != nil {
				return nil, err
			}
			if len(s.right) > 0 {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

const forecastTools = `[
{"name":"get_forecast","description":"Weather forecast for a city.","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":10}},"required":["city","days"],"additionalProperties":false}},
{"name":"convert_amount","description":"Converts an amount of money.","parameters":{"type":"object","properties":{"amount":{"type":"number"},"source":{"type":"string"},"target":{"type":"string"}},"required":["amount","source","target"],"additionalProperties":false}},
{"name":"search","description":"Searches documents.","parameters":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","default":10}},"required":["query"]}}]`

// expectedSubject is a task by an expected call, and by an answer where one is
// given; said is how it would be said.
func expectedSubject(name string, answer *match.Answer, said string) (subject, error) {
	s := subject{name: name, prompt: "How warm will it be in Oslo on the next 3 days?", said: said}
	if err := json.Unmarshal([]byte(forecastTools), &s.tools); err != nil {
		return s, fmt.Errorf("declaring tools: %w", err)
	}
	s.right = []tools.Call{{Name: "get_forecast", Arguments: json.RawMessage(`{"city":"Oslo","days":3}`)}}
	expected := match.Expected{Calls: []match.Call{{Name: s.right[0].Name, Arguments: s.right[0].Arguments}}, Answer: answer}
	s.group = grpo.Group{ID: s.name, Tools: s.tools, Expected: &expected}
	return s, nil
}

// seed picks the task of each level. Any would do.
const seed = 1

// playedSubject lets the oracle play the level's task. Without calls of its own
// the task is none to attack.
func playedSubject(ctx context.Context, spec tools.Spec, level string) (subject, error) {
	task, err := spec.Task("", level, seed)
	if err != nil {
		return subject{}, err
	}
	played, err := tools.Rollout(ctx, spec.New(), task, spec.Oracle)
	if err != nil {
		return subject{}, err
	}
	s := subject{name: task.ID, group: grpo.Group{ID: task.ID, TaskID: task.ID}, tools: spec.Tools(task.Rules, task.Level)}
	for _, message := range task.Prompt {
		s.prompt += message.Content + "\n"
	}
	for _, step := range played.Steps {
		if step.Call.Name != "" {
			s.right = append(s.right, step.Call)
		} else {
			s.said = step.Message
		}
	}
	if !played.Success {
		return s, fmt.Errorf("the oracle does not solve %s", task.ID)
	}
	return s, nil
}

// last is the call that finishes the task.
func (s subject) last() tools.Call { return s.right[len(s.right)-1] }

// nearMiss is one strict, valid call with one wrong value; where the calls have
// no values, it is the first of several that would be needed.
func (s subject) nearMiss() string {
	for _, call := range slices.Backward(s.right) {
		if wrong, ok := spoil(call, 1); ok {
			return calls(wrong)
		}
	}
	return calls(s.right[0])
}

// spoil changes one value of a call by so many steps (0 is none), and keeps its
// type. ok is false where there is nothing to change.
func spoil(call tools.Call, steps int) (tools.Call, bool) {
	arguments := argumentsOf(call)
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		switch v := arguments[name].(type) {
		case json.Number:
			if n, ok := strictjson.Integer(v); ok {
				arguments[name] = n.Int64() + int64(steps)
			} else {
				arguments[name] = json.Number(string(v) + strings.Repeat("7", steps))
			}
		case string:
			arguments[name] = v + strings.Repeat("x", steps)
		default:
			continue
		}
		return with(call, arguments), true
	}
	return call, false
}

// argumentsOf decodes the arguments of a right call, which are always valid.
func argumentsOf(call tools.Call) map[string]any {
	value, err := strictjson.Decode(call.Arguments)
	if object, ok := value.(map[string]any); ok && err == nil {
		return object
	}
	return map[string]any{}
}

func with(call tools.Call, arguments any) tools.Call {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic("audit: arguments that were decoded do not encode: " + err.Error())
	}
	return tools.Call{Name: call.Name, Arguments: text}
}

// calls writes calls in the hermes form.
func calls(list ...tools.Call) string {
	var b strings.Builder
	for _, c := range list {
		arguments := c.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		fmt.Fprintf(&b, "<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>\n", c.Name, arguments)
	}
	return b.String()
}
