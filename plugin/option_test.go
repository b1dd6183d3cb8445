package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"pgregory.net/rapid"
)

func TestUnsetOptions(t *testing.T) {
	tests := []struct {
		name    string
		options []llms.CallOption
		want    string
	}{
		{"none", nil, `{"num_ctx":512}`},
		{"zeros that were asked for", []llms.CallOption{llms.WithTemperature(0), llms.WithSeed(0), llms.WithTopP(0)}, `{"num_ctx":512,"seed":0,"temperature":0,"top_p":0}`},
		{"several", []llms.CallOption{llms.WithMaxTokens(9), llms.WithTopK(3), llms.WithStopWords([]string{"x"}), llms.WithRepetitionPenalty(1.5)},
			`{"num_ctx":512,"num_predict":9,"repeat_penalty":1.5,"stop":["x"],"top_k":3}`},
		{"the last one wins", []llms.CallOption{llms.WithSeed(1), llms.WithSeed(2)}, `{"num_ctx":512,"seed":2}`},
		{"all at once leave zeros unset", []llms.CallOption{llms.WithOptions(llms.CallOptions{Seed: 7})}, `{"num_ctx":512,"seed":7}`},
		{"one after all at once", []llms.CallOption{llms.WithOptions(llms.CallOptions{Seed: 7}), llms.WithTemperature(0)}, `{"num_ctx":512,"seed":7,"temperature":0}`},
		{"Ollama's own", []llms.CallOption{With(Extra{Options: map[string]any{"min_p": 0.5, "num_ctx": 64}})}, `{"min_p":0.5,"num_ctx":64}`},
		{"one answer", []llms.CallOption{llms.WithN(1), llms.WithCandidateCount(1)}, `{"num_ctx":512}`},
	}
	model, err := NewModel(ModelConfig{Name: "m", NumCtx: 512})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := model.request(nil, applyOptions(test.options))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(request.Options)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestUnsupportedOptions(t *testing.T) {
	tests := []struct {
		name    string
		options []llms.CallOption
	}{
		{"two answers", []llms.CallOption{llms.WithN(2)}},
		{"two candidates", []llms.CallOption{llms.WithCandidateCount(2)}},
		{"a shortest length", []llms.CallOption{llms.WithMinLength(5), llms.WithSeed(1)}},
		{"a longest length", []llms.CallOption{llms.WithMaxLength(0)}},
		{"a forced tool", []llms.CallOption{llms.WithToolChoice(llms.ToolChoice{Type: "function"})}},
		{"any tool", []llms.CallOption{llms.WithToolChoice("required")}},
	}
	model, err := NewModel(ModelConfig{Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := model.request(nil, applyOptions(test.options)); !llms.IsNotImplementedError(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRequestFields(t *testing.T) {
	tool := declared(`{"type":"object"}`)
	tests := []struct {
		name    string
		options []llms.CallOption
		want    string
	}{
		{"another model", []llms.CallOption{llms.WithModel("n")}, `{"model":"n","messages":null,"stream":false,"options":{}}`},
		{"JSON", []llms.CallOption{llms.WithJSONMode()}, `{"model":"m","messages":null,"stream":false,"format":"json","options":{}}`},
		{"a schema", []llms.CallOption{With(Extra{Format: json.RawMessage(`{"type":"object"}`)})}, `{"model":"m","messages":null,"stream":false,"format":{"type":"object"},"options":{}}`},
		{"log-probabilities", []llms.CallOption{With(Extra{Logprobs: true, TopLogprobs: 3})}, `{"model":"m","messages":null,"stream":false,"options":{},"logprobs":true,"top_logprobs":3}`},
		{"thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeAuto)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":true}`},
		{"no thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeNone)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":false}`},
		{"a little thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeLow)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":"low"}`},
		{"tools", []llms.CallOption{llms.WithTools(tool)}, `{"model":"m","messages":null,"stream":false,"tools":[{"type":"function","function":{"name":"odd","parameters":{"type":"object","properties":{}}}}],"options":{}}`},
		{"functions", []llms.CallOption{llms.WithFunctions([]llms.FunctionDefinition{*tool[0].Function})}, `{"model":"m","messages":null,"stream":false,"tools":[{"type":"function","function":{"name":"odd","parameters":{"type":"object","properties":{}}}}],"options":{}}`},
		{"no tools", []llms.CallOption{llms.WithTools(tool), llms.WithToolChoice("none")}, `{"model":"m","messages":null,"stream":false,"options":{}}`},
	}
	model, err := NewModel(ModelConfig{Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := model.request(nil, applyOptions(test.options))
			if err != nil {
				t.Fatal(err)
			}
			delete(request.Options, "num_ctx")
			got, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

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
		if !json.Valid(argumentsAsJSON(input)) {
			t.Errorf("%q has no JSON form", input)
		}
	})
}

// FuzzOllamaTools converts any schema: the result, or an error of the caller's
// kind, comes after bounded work.
func FuzzOllamaTools(f *testing.F) {
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
		carried, err := ollamaTools(declared(schema))
		if failed := (*llms.Error)(nil); err != nil && !errors.As(err, &failed) {
			t.Fatalf("%T: %v", err, err)
		}
		if _, failed := json.Marshal(carried); failed != nil {
			t.Fatal(failed)
		}
	})
}

// A schema whose shape would be lost is refused, with the place; one that loses
// constraints only is not.
func TestOllamaToolsRefuses(t *testing.T) {
	if _, err := ollamaTools(declared(`{"properties":{"x":{"type":"number","minimum":1}},"additionalProperties":false}`)); err != nil {
		t.Error(err)
	}
	for schema, want := range map[string]string{
		`{"type":"array"}`:                                       "got type array; expected an object",
		`{"oneOf":[{"type":"object"}]}`:                          "/oneOf",
		`{"properties":{"x":{"allOf":[{"type":"string"}]}}}`:     "/properties/x/allOf",
		`{"properties":{"x":{"$ref":"#/properties/x"}}}`:         "leads to itself",
		`{"properties":{"x":{"items":{"$ref":"#/$defs/none"}}}}`: "/properties/x/items",
	} {
		_, err := ollamaTools(declared(schema))
		if !llms.IsInvalidRequestError(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"odd"`) {
			t.Errorf("%s: got %v, want …%s…", schema, err, want)
		}
	}
}

func declared(schema string) []llms.Tool {
	return []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "odd", Parameters: json.RawMessage(schema)}}}
}

// TestTurnsSurviveAnExecutor: what an executor keeps of any run of turns is
// enough to put them back together.
func TestTurnsSurviveAnExecutor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []pastTurn
		var steps []schema.AgentStep
		for number := range rapid.IntRange(0, 5).Draw(t, "turns") {
			p := pastTurn{turn: turn{Number: number + 1, Content: rapid.String().Draw(t, "content"), Began: time.Unix(1, 0).UTC(),
				Tokens: rapid.IntRange(0, 9).Draw(t, "tokens"), FromText: rapid.Bool().Draw(t, "spelt")}}
			for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
				p.Calls = append(p.Calls, requestedCall{ID: fmt.Sprint("call_", i), Name: rapid.SampledFrom([]string{"add", "ADD", ""}).Draw(t, "name"),
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
		if diff := cmp.Diff(want, turnsOf(steps), cmp.AllowUnexported(pastTurn{})); diff != "" {
			t.Fatal(diff)
		}
	})
}
