package tools

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolgym/internal/strictjson"
)

// A schema that costs much more than its bytes is refused when it is declared.
func TestCostlySchemasAreRefused(t *testing.T) {
	for _, a := range refusedAttacks() {
		t.Run(a.name, func(t *testing.T) {
			_, err := compile(json.RawMessage(a.schema))
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != Invalid || !strings.HasPrefix(e.Where, "/parameters") || !strings.Contains(e.Message, a.message) {
				t.Fatalf("%v, want %q", err, a.message)
			}
		})
	}
}

// A value that takes too many steps is not validated; one that is validated takes
// no more than were counted.
func TestStepsAreBounded(t *testing.T) {
	for costly, list := range map[bool][]attack{true: costlyAttacks(), false: boundedAttacks()} {
		for _, a := range list {
			t.Run(a.name, func(t *testing.T) {
				s, err := compile(json.RawMessage(a.schema))
				if err != nil {
					t.Fatal(err)
				}
				value, err := strictjson.Decode([]byte(a.value))
				if err != nil {
					t.Fatal(err)
				}
				if got := checkSteps(t, s, value); got != costly {
					t.Errorf("too many steps: %v, want %v", got, costly)
				}
			})
		}
	}
}

// checkSteps validates a value, and reports whether it takes too many steps. It
// changes the schema: the format of a subschema is what the validator looks at
// first, and a hook there counts what the validator does.
func checkSteps(t *testing.T, s *schema, value any) (costly bool) {
	t.Helper()
	counted := s.graph.count(t.Context(), value)
	if again := s.graph.count(t.Context(), value); again != counted && min(again, counted) <= MaxSteps {
		t.Errorf("%v steps and %v for the same value", counted, again)
	}
	if bound := s.graph.weight * sizeOf(value); !s.graph.recursive && counted > bound && counted <= MaxSteps {
		t.Errorf("%v steps, which is over the bound of %v", counted, bound)
	}
	left := MaxSteps
	violations, err := s.violations(t.Context(), value, &left)
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Code != TooLarge) {
		t.Fatal(err)
	}
	if costly = err != nil; costly {
		return costly
	}
	if left > MaxSteps || left < 0 {
		t.Errorf("%d steps are left", left)
	}
	checkReport(t, violations)
	visits := 0.0
	for i := range s.graph.nodes {
		s.graph.nodes[i].schema.Format = &jsonschema.Format{Name: "counted", Validate: func(any) error { visits++; return nil }}
	}
	_ = s.compiled.Validate(value)
	if visits > counted {
		t.Errorf("the validator visits %v subschemas, and %v steps were counted", visits, counted)
	}
	return false
}

func checkReport(t *testing.T, violations []Violation) {
	t.Helper()
	if len(violations) > maxViolations {
		t.Errorf("%d violations", len(violations))
	}
	for _, v := range violations {
		if len(v.Message) > maxMessage+100 {
			t.Errorf("a message of %d bytes", len(v.Message))
		}
	}
}

func TestFormatsOfOldDraftsAreLookedAtByMany(t *testing.T) {
	s, err := compile(json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"regex","pattern":"^.+$"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("at the same time", func(t *testing.T) {
		for _, test := range []struct {
			text string
			want int
		}{{"(x)", 0}, {"(", 1}, {strings.Repeat("(x{30}){30}", 800), 1}} {
			t.Run(test.text[:1], func(t *testing.T) {
				t.Parallel()
				left := MaxSteps
				got, err := s.violations(t.Context(), map[string]any{"a": test.text}, &left)
				if err != nil || len(got) != test.want {
					t.Errorf("%v, %v, want %d", got, err, test.want)
				}
			})
		}
	})
}

// What people declare is far within the bounds.
func TestSchemasOfRealTools(t *testing.T) {
	object := `{"type":"object","description":"` + strings.Repeat("What it is for. ", 6) + `","required":["p0"],"properties":{` +
		properties(12, `{"anyOf":[{"type":"string","maxLength":200,"pattern":"^[a-z0-9-]{1,63}$"},{"$ref":"#/$defs/tree"},{"type":"null"}],"description":"A field of the object."}`) + `}}`
	for name, test := range map[string]struct{ schema, value string }{
		"from an OpenAPI document of 100 kB": {
			`{"type":"object","properties":{` + listed(60, `"p%[1]d":{"$ref":"#/$defs/o%[1]d"}`) + `},"$defs":{"tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"},"right":{"$ref":"#/$defs/tree"}}},` +
				listed(60, `"o%d":`+object) + `}}`,
			`{"p0":{"p0":"a"},"p1":{"p0":{"left":{"right":{}}}}}`},
		"any JSON": {`{"properties":{"a":{"$ref":"#/$defs/any"}},"$defs":{"any":{"anyOf":[{"type":["string","number","boolean","null"]},{"type":"array","items":{"$ref":"#/$defs/any"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/any"}}]}}}`,
			`{"a":[` + strings.Repeat(`{"b":[1,"x",{"c":null}]},`, 2000) + `1]}`},
		"many time zones":  {`{"properties":{"z":{"type":"array","items":{"enum":[` + strungNames(600) + `]}}}}`, `{"z":[` + strings.Repeat(`"t500",`, 500) + `"t1"]}`},
		"deep arguments":   {`{"properties":{"a":{"$ref":"#"}}}`, strings.Repeat(`{"a":`, 100) + "{}" + strings.Repeat("}", 100)},
		"the largest list": {`{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"]}}}}`, `{"a":[` + strings.Repeat(`{"x":1,"y":2},`, 30000) + `{"x":1,"y":2}]}`},
		"a JSON Schema":    {`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"a":` + object + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := Declare("f", "", json.RawMessage(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Violation(nil), tool.Validate(json.RawMessage(test.value))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Violations are the first in order whatever the order in which they are found,
// and messages quote the first of what they list.
func TestManyViolations(t *testing.T) {
	tool, err := Declare("f", "", json.RawMessage(`{"properties":{"e":{"enum":[`+strungNames(9000)+`]},"c":{"const":"`+strings.Repeat("x", 9000)+`"},"p":{"pattern":"^(ab)+$"}},
		"required":[`+strungNames(5000)+`],"additionalProperties":{"type":"string"},"propertyNames":{"maxLength":2000}}`))
	if err != nil {
		t.Fatal(err)
	}
	arguments := json.RawMessage(`{"e":1,"c":2,"p":"` + strings.Repeat("y", 1<<20) + `","` + strings.Repeat("z", 3000) + `":1,` + properties(3000, `1`) + `}`)
	first := tool.Validate(arguments)
	checkReport(t, first)
	if len(first) != maxViolations {
		t.Errorf("%d violations", len(first))
	}
	if !slices.ContainsFunc(first, func(v Violation) bool {
		return v.Keyword == "required" && strings.HasSuffix(v.Message, "(and 4950 more)")
	}) {
		t.Errorf("none of the violations lists what is missing: %v", first[:5])
	}
	for range 5 {
		if diff := cmp.Diff(first, tool.Validate(arguments)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// The steps of several values are taken from the same budget.
func TestStepsAreShared(t *testing.T) {
	tool, err := Declare("f", "", json.RawMessage(`{"$ref":"#/$defs/d0","$defs":{`+definitions(10, `{"anyOf":[{"$ref":"#/$defs/d%[1]d"},{"$ref":"#/$defs/d%[1]d"}]}`)+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	left := MaxSteps
	if _, err := tool.ValidateWithin(t.Context(), &left, map[string]any{}); err != nil || left == MaxSteps {
		t.Fatalf("%d left, %v", left, err)
	}
	left = 10
	if _, err := tool.ValidateWithin(t.Context(), &left, map[string]any{}); err == nil || left != 10 {
		t.Errorf("%d left, no error", left)
	}
	if _, err := tool.ValidateWithin(t.Context(), nil, map[string]any{}); err != nil {
		t.Error(err)
	}
}

// What is said to be taken is at least what is: the schemas are those that take
// much memory for their text.
func TestMemoryIsEstimatedFromAbove(t *testing.T) {
	for name, schema := range map[string]string{
		"a flat schema":      `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		"a pattern":          `{"properties":{"a":{"pattern":"([a-zA-Z]|[^b]){900}"}}}`,
		"classes":            `{"properties":{"a":{"pattern":"` + strings.Repeat(`[^x\\pL]`, 20) + `"}}}`,
		"subschemas":         `{"properties":{` + properties(3000, `{"type":"string"}`) + `}}`,
		"an enum":            `{"properties":{"a":{"enum":[` + strungNames(9000) + `]}}}`,
		"a constant of many": `{"properties":{"a":{"const":[` + strings.TrimSuffix(strings.Repeat("[1],", 20_000), ",") + `]}}}`,
		"references":         `{"$ref":"#/$defs/d0","$defs":{` + definitions(10, `{"anyOf":[{"$ref":"#/$defs/d%[1]d"},{"$ref":"#/$defs/d%[1]d"}]}`) + `}}`,
	} {
		var before, after runtime.MemStats
		const copies = 8
		set := make(Set, copies)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range set {
			tool, err := Declare("f", "", json.RawMessage(strings.Clone(schema)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			set[i] = tool
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		taken := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if said := int64(set.Memory()); taken > said {
			t.Errorf("%s: %d bytes are taken; said are %d", name, taken, said)
		}
		runtime.KeepAlive(set)
	}
}

// A context that has ended ends the counting of steps, and no value is validated.
func TestValidationEndsWithItsContext(t *testing.T) {
	s, err := compile(json.RawMessage(`{"properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string","pattern":"^(a|b)*c$"},{"type":"integer"}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]any{"a": slices.Repeat([]any{json.Number("1")}, 10_000)}
	whole := s.graph.count(t.Context(), value)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ended := s.graph.count(ctx, value); ended > 10 || whole < 10_000 {
		t.Errorf("%v steps were counted, and %v after the context; want at least 10,000, and at most 10", whole, ended)
	}
	for name, value := range map[string]any{"costly": value, "small": map[string]any{"a": []any{}}} {
		left := MaxSteps
		if violations, err := s.violations(ctx, value, &left); !errors.Is(err, context.Canceled) || violations != nil || left != MaxSteps {
			t.Errorf("%s: got %v, error %v, %d steps left; want the context's error and all steps", name, violations, err, left)
		}
	}
	called := false
	tool := Bind(Tool{Name: "f", schema: s}, func(context.Context, json.RawMessage) (any, error) {
		called = true
		return nil, nil //nolint:nilnil // it is not called
	})
	if _, err := tool.Call(ctx, json.RawMessage(`{"a":[1]}`)); !errors.Is(err, context.Canceled) || called {
		t.Errorf("a call: got error %v, handler called: %t; want the context's error, and no call", err, called)
	}
}

// A schema that can be declared, and a value that can be checked against it,
// take no more steps than were counted.
func FuzzSteps(f *testing.F) {
	for _, a := range refusedAttacks() {
		if len(a.schema) < 8<<10 {
			f.Add(a.schema, `{"a":1}`)
		}
	}
	for _, a := range append(costlyAttacks(), boundedAttacks()...) {
		if len(a.schema) < 8<<10 && len(a.value) < 8<<10 {
			f.Add(a.schema, a.value)
		}
	}
	f.Add(`{"properties":{"a":{"items":[{"type":"string"},{}],"additionalItems":{"uniqueItems":true}}},"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"a":["x",1,[1,1]]}`)
	f.Add(`{"dependencies":{"a":{"properties":{"b":{"minimum":1e3}}},"b":["a"]},"patternProperties":{"^b":{"not":{"const":[1]}}}}`, `{"a":1,"b":2}`)
	f.Add(`{"$id":"http://a/b","$ref":"#x","$defs":{"x":{"$anchor":"x","prefixItems":[true],"contains":{"type":"integer"},"unevaluatedItems":false}}}`, `{"a":[1,2]}`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := compile(json.RawMessage(text))
		if err != nil {
			return
		}
		decoded, err := strictjson.Decode([]byte(value))
		if err != nil || !allHoldable(decoded) {
			return
		}
		s.flat = nil
		checkSteps(t, s, decoded)
	})
}
