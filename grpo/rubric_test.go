package grpo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/tools"
)

func TestDefaultRubricIsThePublishedLab(t *testing.T) {
	want := `{"criteria":{"completion":{"weight":3},"format":{"weight":1},"length":{"weight":-0.05,"unit":"turn"},"schema":{"weight":1.5}}}`
	got, err := json.Marshal(grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if err := grpo.DefaultRubric().Validate(); err != nil {
		t.Error(err)
	}
}

func TestParseRubric(t *testing.T) {
	want := grpo.Rubric{Criteria: map[string]grpo.Criterion{
		"completion": {Weight: 3},
		"length":     {Weight: -1, Unit: "token", Soft: 100, Max: 200},
		"brief":      {Weight: 0.5, Formula: "1 / turns"},
	}}
	tests := []struct{ name, text string }{
		{"yaml", "criteria:\n  completion: {weight: 3}\n  length:\n    weight: -1\n    unit: token\n    soft: 100\n    max: 200\n  brief: {weight: 0.5, formula: 1 / turns}\n"},
		{"json", `{"criteria":{"completion":{"weight":3.0},"length":{"weight":-1,"unit":"token","soft":1e2,"max":200},"brief":{"weight":5e-1,"formula":"1 / turns"}}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := grpo.ParseRubric([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// yamlBombs are small texts of which a careless reader makes large values.
func yamlBombs() []struct{ name, text, where, want string } {
	laughs, merges := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n", "a0: &a0 {x: 1}\n"
	for i := range 12 {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
		merges += fmt.Sprintf("a%d: &a%d {k%d: {<<: *a%d}, l%d: {<<: *a%d}}\n", i+1, i+1, i, i, i, i)
	}
	return []struct{ name, text, where, want string }{
		{"a billion laughs", laughs + "criteria: *a12\n", "", "YAML or JSON"},
		{"laughs as a weight", "criteria: {format: {weight: &a [1,1,1,1,1,1,1,1]}, schema: {weight: [*a,*a,*a,*a]}}", "/criteria/format/weight", "a finite number"},
		{"merges that double", merges + "criteria: *a12\n", "", "YAML or JSON"},
		{"an alias of what holds it", "criteria: &a {format: *a}", "", "YAML or JSON"},
		{"an alias of nothing", "criteria: *nothing", "", "YAML or JSON"},
		{"brackets without end", strings.Repeat("[", 100_000), "", "YAML or JSON"},
		{"braces without end", "criteria: " + strings.Repeat("{a: ", 60_000), "", "YAML or JSON"},
		{"blocks within blocks", strings.Repeat("- ", 100_000) + "x", "", "YAML or JSON"},
		{"a key that is no text", "criteria: {format: {weight: {[1, 2]: 3}}}", "", "YAML or JSON"},
		{"a key that is a number", "criteria: {1: {weight: 1}}", "/criteria", "an object"},
		{"a tag of another language", "criteria: !!python/object/apply:os.system [id]", "/criteria", "an object"},
		{"bytes of no text", "criteria: {format: {weight: \x00\x01\xff}}", "", "YAML or JSON"},
		{"2 MiB", strings.Repeat("#", 2<<20), "", "at most 262144 bytes"},
	}
}

func TestParseRubricRefuses(t *testing.T) {
	tests := []struct{ name, text, where, want string }{
		{"an unknown field at the top", "rubric: {}", "/rubric", "criteria"},
		{"an unknown field of a criterion", "criteria: {format: {wieght: 1}}", "/criteria/format/wieght", "weight"},
		{"an unknown criterion", "criteria: {formatting: {weight: 1}}", "/criteria/formatting", "format, schema"},
		{"no criteria", "criteria: {}", "/criteria", "between 1"},
		{"nothing", "", "", "an object"},
		{"no YAML", "criteria: [", "", "YAML or JSON"},
		{"no JSON", `{"criteria":`, "", "YAML or JSON"},
		{"a key twice", `{"criteria":{"format":{"weight":1,"weight":2}}}`, "", "YAML or JSON"},
		{"a key twice in YAML", "criteria:\n  format: {weight: 1}\n  format: {weight: 2}\n", "", "YAML or JSON"},
		{"two documents", "criteria: {format: {weight: 1}}\n---\ncriteria: {}\n", "", "YAML or JSON"},
		{"a list", "- format", "", "an object"},
		{"a weight that is a text", `{"criteria":{"format":{"weight":"1"}}}`, "/criteria/format/weight", "a finite number"},
		{"a weight that is no number", "criteria: {format: {weight: .nan}}", "/criteria/format/weight", "a finite number"},
		{"an infinite weight", "criteria: {format: {weight: .inf}}", "/criteria/format/weight", "a finite number"},
		{"a weight beyond float64", `{"criteria":{"format":{"weight":1e999}}}`, "/criteria/format/weight", "a finite number"},
		{"an unknown unit", "criteria: {length: {weight: 1, unit: word}}", "/criteria/length/unit", "turn, token or off"},
		{"a unit elsewhere", "criteria: {format: {weight: 1, unit: turn}}", "/criteria/format/unit", "length only"},
		{"tokens without bounds", "criteria: {length: {weight: 1, unit: token}}", "/criteria/length/max", "soft < max"},
		{"bounds of turns", "criteria: {length: {weight: 1, soft: 1, max: 2}}", "/criteria/length/unit", "token"},
		{"half a token", "criteria: {length: {weight: 1, unit: token, soft: 0.5, max: 2}}", "/criteria/length/soft", "whole number"},
		{"a formula for a known criterion", "criteria: {format: {weight: 1, formula: '1'}}", "/criteria/format/formula", "a name of its own"},
		{"a name that no metric can have", "criteria: {'a b': {weight: 1, formula: '1'}}", "/criteria/a b", "small letters"},
		{"an unknown variable", "criteria: {x: {weight: 1, formula: speed}}", "/criteria/x/formula", "turns"},
		{"a formula that gives a text", "criteria: {x: {weight: 1, formula: text}}", "/criteria/x/formula", "a number or a condition"},
		{"a formula that is no expression", "criteria: {x: {weight: 1, formula: '1 +'}}", "/criteria/x/formula", "an expression"},
		{"a formula with a loop", "criteria: {x: {weight: 1, formula: 'len(filter(1..9, # > 1))'}}", "/criteria/x/formula", ""},
		{"a range", "criteria: {x: {weight: 1, formula: 'len(1..1000000)'}}", "/criteria/x/formula", "numbers"},
		{"a growing text", "criteria: {x: {weight: 1, formula: 'len(text + text)'}}", "/criteria/x/formula", "numbers"},
		{"the clock", "criteria: {x: {weight: 1, formula: 'now().Unix()'}}", "/criteria/x/formula", ""},
		{"too many nodes", "criteria: {x: {weight: 1, formula: '" + strings.Repeat("1+", 500) + "1'}}", "/criteria/x/formula", "expression"},
		{"too long", "criteria: {x: {weight: 1, formula: '" + strings.Repeat(" ", 2000) + "1'}}", "/criteria/x/formula", "2000 bytes"},
	}
	tests = append(tests, yamlBombs()...)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := grpo.ParseRubric([]byte(test.text))
			var mistake *tools.Error
			if !errors.As(err, &mistake) || mistake.Code != tools.Invalid {
				t.Fatalf("error %v, want one of the caller", err)
			}
			if mistake.Where != test.where || !strings.Contains(mistake.Want, test.want) {
				t.Errorf("error %q, want one at %q that wants %q", err, test.where, test.want)
			}
		})
	}
}

func TestValidateRefusesWhatGoCodeCanWrite(t *testing.T) {
	for name, weight := range map[string]float64{"no number": math.NaN(), "infinite": math.Inf(-1)} {
		t.Run(name, func(t *testing.T) {
			r := grpo.Rubric{Criteria: map[string]grpo.Criterion{"format": {Weight: weight}}}
			if r.Validate() == nil {
				t.Error("accepted")
			}
		})
	}
}
