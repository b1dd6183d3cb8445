package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"pgregory.net/rapid"
)

// FuzzArguments: whatever an agent hands to a tool is read as something that
// the tool's own check can judge, and reading it again changes nothing.
func FuzzArguments(f *testing.F) {
	for _, input := range []string{``, `null`, ` {"a":1}`, `"{\"a\":1}"`, `"two words"`, `2+2`, `[1]`, `{"a":`, `"\ud800"`, "\xff", `"null"`} {
		f.Add(input, "text")
		f.Add(input, "")
	}
	f.Fuzz(func(t *testing.T, input, only string) {
		got := arguments(input, only)
		if only != "" && !isObject(string(got)) && got[0] != '{' {
			t.Errorf("%q became %q, no object", input, got)
		}
		if again := arguments(string(got), only); json.Valid(got) && isObject(string(got)) && string(again) != string(got) {
			t.Errorf("%q became %q, then %q", input, got, again)
		}
		if !json.Valid(argumentsJSON(input)) {
			t.Errorf("%q has no JSON form", input)
		}
	})
}

// FuzzCarry: a schema from anywhere is carried, or refused with an error of the
// caller's kind, in bounded time.
func FuzzCarry(f *testing.F) {
	for _, schema := range []string{
		`{"type":"object","properties":{"x":{"$ref":"#/properties/x"}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"properties":{"x":{"anyOf":[{"$ref":"#"},{"$ref":"#/"}]}}}`, `{"properties":[]}`, `[]`, `{"type":["object","null"]}`,
		`{"properties":{"x":{"type":5}}}`, `{"required":"x"}`, `{"properties":{"x":{"anyOf":[{"$ref":"#/properties/x"},{"$ref":"#/properties/x"}]}}}`,
	} {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			t.Skip()
		}
		carried, err := carryTools(declared(schema))
		if failed := (*llms.Error)(nil); err != nil && !errors.As(err, &failed) {
			t.Fatalf("%T: %v", err, err)
		}
		if _, failed := json.Marshal(carried); failed != nil {
			t.Fatal(failed)
		}
	})
}

// TestTurnsSurviveAnExecutor: what an executor keeps of any run of turns is
// enough to put them back together.
func TestTurnsSurviveAnExecutor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []played
		var steps []schema.AgentStep
		for number := range rapid.IntRange(0, 5).Draw(t, "turns") {
			p := played{turn: turn{Number: number + 1, Content: rapid.String().Draw(t, "content"), Began: time.Unix(1, 0).UTC(),
				Tokens: rapid.IntRange(0, 9).Draw(t, "tokens"), Spelt: rapid.Bool().Draw(t, "spelt")}}
			for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
				p.Calls = append(p.Calls, wanted{ID: fmt.Sprint("call_", i), Name: rapid.SampledFrom([]string{"add", "ADD", ""}).Draw(t, "name"),
					Arguments: rapid.SampledFrom([]string{`{"a":1}`, `{`, ``}).Draw(t, "arguments"), Fault: rapid.SampledFrom([]string{"", "no"}).Draw(t, "fault")})
			}
			actions, err := p.actions()
			if err != nil {
				t.Fatal(err)
			}
			for _, action := range actions {
				seen := rapid.String().Draw(t, "observation")
				p.observations = append(p.observations, seen)
				steps = append(steps, schema.AgentStep{Action: action, Observation: seen})
			}
			want = append(want, p)
		}
		if diff := cmp.Diff(want, turns(steps), cmp.AllowUnexported(played{})); diff != "" {
			t.Fatal(diff)
		}
	})
}
