package baseline_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/baseline"
)

func TestRandomCallsAreValidAndRepeatable(t *testing.T) {
	spec := arithmetic.Spec()
	for _, level := range spec.Levels {
		t.Run("level "+level, func(t *testing.T) {
			seen := map[string]bool{}
			for seed := range uint64(60) {
				first, again := roll(t, spec, level, seed), roll(t, spec, level, seed)
				if diff := cmp.Diff(first.Steps, again.Steps); diff != "" {
					t.Error(diff)
				}
				for _, step := range first.Steps {
					seen[step.Call.Name] = true
					tool, ok := spec.Tools(tools.Sound, level).Lookup(step.Call.Name)
					if !ok || len(tool.Validate(step.Call.Arguments)) > 0 {
						t.Errorf("invalid call %s %s", step.Call.Name, step.Call.Arguments)
					}
				}
				if !first.Terminated && !first.Truncated {
					t.Errorf("seed %d: stopped before the end", seed)
				}
			}
			if want := len(spec.Tools(tools.Sound, level)); len(seen) != want {
				t.Errorf("%d tools called, want all %d", len(seen), want)
			}
		})
	}
}

func roll(t *testing.T, spec tools.Spec, level string, seed uint64) tools.Trajectory {
	t.Helper()
	task, err := spec.Task(tools.Sound, level, seed)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(t.Context(), spec.New(), task, baseline.Random(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return trajectory
}

// caller offers one tool and ends at once.
type caller struct {
	tool tools.Tool
	got  []json.RawMessage
	left int
}

func (c *caller) Tools() tools.Set { return tools.Set{c.tool} }

func (c *caller) Step(_ context.Context, call tools.Call) (tools.Step, error) {
	c.got = append(c.got, call.Arguments)
	c.left--
	if c.left == 0 {
		return tools.Termination(call, tools.Result{}, 0), nil
	}
	return tools.Transition(call, tools.Result{}, 0), nil
}

func TestRandomArgumentsFitTheSchema(t *testing.T) {
	tests := []struct{ name, parameters string }{
		{"no properties", `{"type":"object","additionalProperties":false}`},
		{"bounds", `{"type":"object","properties":{"n":{"type":"integer","minimum":3,"maximum":5}},"required":["n"]}`},
		{"exclusive bounds", `{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":3,"exclusiveMaximum":5}},"required":["n"]}`},
		{"large minimum", `{"type":"object","properties":{"n":{"type":"integer","minimum":5000}},"required":["n"]}`},
		{"multiples", `{"type":"object","properties":{"n":{"type":"integer","multipleOf":7}},"required":["n"]}`},
		{"enum and const", `{"type":"object","properties":{"e":{"enum":["a",1,null]},"c":{"const":{"x":1}}},"required":["e","c"]}`},
		{"text lengths", `{"type":"object","properties":{"s":{"type":"string","minLength":12,"maxLength":12}},"required":["s"]}`},
		{"types", `{"type":"object","properties":{"t":{"type":["boolean","null"]}},"required":["t"]}`},
		{"array", `{"type":"object","properties":{"a":{"type":"array","minItems":2,"items":{"type":"integer"}}},"required":["a"]}`},
		{"recursive", `{"type":"object","properties":{"child":{"$ref":"#"},"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}},"required":["x"]}`},
		{"date pattern", `{"type":"object","properties":{"s":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}$"}},"required":["s"]}`},
		{"alternatives in a pattern", `{"type":"object","properties":{"s":{"type":"string","pattern":"^(red|green|#[0-9a-f]{6})$"}},"required":["s"]}`},
		{"pattern without anchors", `{"type":"object","properties":{"s":{"type":"string","pattern":"\\d+%"}},"required":["s"]}`},
		{"negated class", `{"type":"object","properties":{"s":{"type":"string","pattern":"^[^@ ]+@[^@ ]+\\.[a-z]{2,}$"}},"required":["s"]}`},
		{"class outside of ASCII", `{"type":"object","properties":{"s":{"type":"string","pattern":"^[α-ω]{3}$"}},"required":["s"]}`},
		{"pattern and lengths", `{"type":"object","properties":{"s":{"type":"string","pattern":"^[A-Z]+$","minLength":2,"maxLength":3}},"required":["s"]}`},
		{"required and not declared", `{"type":"object","required":["x"]}`},
		{"required and declared by additionalProperties", `{"type":"object","required":["x"],"additionalProperties":{"type":"integer"}}`},
		{"alternatives", `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"required":["a"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tool, err := tools.Declare("f", "", json.RawMessage(test.parameters))
			if err != nil {
				t.Fatal(err)
			}
			c := &caller{tool: tool, left: 50}
			if err := baseline.Random(rand.NewPCG(1, 2)).Play(t.Context(), tools.Task{}, nil, c); err != nil {
				t.Fatal(err)
			}
			for _, arguments := range c.got {
				if violations := tool.Validate(arguments); len(violations) > 0 {
					t.Errorf("%s: %v", arguments, violations)
				}
			}
		})
	}
}

func TestRandomGivesUp(t *testing.T) {
	callers := map[string]tools.Caller{"no tools": none{}}
	for name, pattern := range map[string]string{"word boundary within a word": `^a\\bb$`, "long text": "^" + strings.Repeat("[a-z]{900}", 5) + "$", "empty class": `^[^\\s\\S]$`} {
		tool, err := tools.Declare("f", "", json.RawMessage(`{"type":"object","properties":{"s":{"type":"string","pattern":"`+pattern+`"}},"required":["s"]}`))
		if err != nil {
			t.Fatal(err)
		}
		callers[name] = &caller{tool: tool, left: 1}
	}
	for name, c := range callers {
		t.Run(name, func(t *testing.T) {
			err := baseline.Random(rand.NewPCG(1, 2)).Play(t.Context(), tools.Task{}, nil, c)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
				t.Errorf("error %v, want an invalid one", err)
			}
		})
	}
}

// TestDrawsAreBounded draws for schemas that ask for a billion values, or for more
// than that by what they hold. Without bounds these take all memory.
func TestDrawsAreBounded(t *testing.T) {
	nested := `{"type":"integer"}`
	for range 5 {
		nested = `{"type":"array","minItems":1000,"items":` + nested + `}`
	}
	for name, test := range map[string]struct {
		parameters string
		drawn      bool
	}{
		"a billion items":         {`{"required":["a"],"properties":{"a":{"type":"array","minItems":1000000000}}}`, false},
		"a billion characters":    {`{"required":["a"],"properties":{"a":{"type":"string","minLength":1000000000}}}`, false},
		"a thousand within each":  {`{"required":["a"],"properties":{"a":` + nested + `}}`, false},
		"an object within itself": {`{"required":["a","b","c"],"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`, false},
		"a list within itself":    {`{"required":["a"],"properties":{"a":{"type":"array","minItems":3,"items":{"$ref":"#/properties/a"}}}}`, false},
		"a billion properties":    {`{"type":"object","minProperties":1000000000}`, false},
		"a thousand items":        {`{"required":["a"],"properties":{"a":{"type":"array","minItems":1000,"items":{"type":"integer"}}}}`, true},
		"a hundred kB of text":    {`{"required":["a"],"properties":{"a":{"type":"string","minLength":100000}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := tools.Declare("f", "", json.RawMessage(test.parameters))
			if err != nil {
				t.Fatal(err)
			}
			c := &caller{tool: tool, left: 1}
			err = baseline.Random(rand.NewPCG(1, 2)).Play(t.Context(), tools.Task{}, nil, c)
			if e := (*tools.Error)(nil); test.drawn != (err == nil) || err != nil && (!errors.As(err, &e) || !strings.Contains(e.Message, "no valid call found")) {
				t.Errorf("got error %v; want that no valid call was found: %t", err, !test.drawn)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	task, err := arithmetic.Spec().Task("", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(t.Context(), arithmetic.Spec().New(), task, baseline.Idle())
	if err != nil || len(trajectory.Steps) != 0 || trajectory.Success {
		t.Errorf("%+v, %v", trajectory, err)
	}
}

type none struct{ tools.Caller }

func (none) Tools() tools.Set { return nil }
