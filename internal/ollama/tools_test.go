package ollama

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// convert converts one tool, "odd", and returns the schema of its arguments as
// JSON and the losses without the common beginning of their pointers.
func convert(t *testing.T, schema string) (parameters string, losses []string) {
	t.Helper()
	converted, lost, err := Tools([]Function{{Name: "odd", Parameters: json.RawMessage(schema)}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(converted[0].Function.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range lost {
		if loss.Function != "odd" {
			t.Errorf("a loss of tool %q", loss.Function)
		}
		losses = append(losses, fmt.Sprint(strings.TrimPrefix(loss.String(), "/0/function/parameters"), " ", loss.Shape))
	}
	return string(text), losses
}

func TestTools(t *testing.T) {
	tests := []struct {
		name, schema, want string
		losses             []string
	}{
		{"no schema", ``, `{"type":"object","properties":{}}`, nil},
		{"null", `null`, `{"type":"object","properties":{}}`, nil},
		{"any arguments", `true`, `{"type":"object","properties":{}}`, nil},
		{"no property", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{}}`,
			[]string{"/additionalProperties false"}},
		{"the order of properties", `{"type":"object","properties":{"z":{"type":"number"},"a":{"type":"string","description":"A."}},"required":["z"]}`,
			`{"type":"object","required":["z"],"properties":{"z":{"type":"number"},"a":{"type":"string","description":"A."}}}`, nil},
		{"bounds", `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":5,"default":1}}}`,
			`{"type":"object","properties":{"n":{"type":"integer"}}}`,
			[]string{"/properties/n/minimum false", "/properties/n/maximum false", "/properties/n/default false"}},
		{"a key with a slash", `{"properties":{"b/c":{"pattern":"x"}}}`, `{"type":"object","properties":{"b/c":{}}}`, []string{"/properties/b~1c/pattern false"}},
		{"several types", `{"type":"object","properties":{"n":{"type":["integer","null"]}}}`,
			`{"type":"object","properties":{"n":{"type":["integer","null"]}}}`, nil},
		{"digits of an enumeration", `{"type":"object","properties":{"n":{"enum":[9007199254740993,"x"]}}}`,
			`{"type":"object","properties":{"n":{"enum":[9007199254740993,"x"]}}}`, nil},
		{"a constant", `{"type":"object","properties":{"n":{"const":"x"}}}`, `{"type":"object","properties":{"n":{"enum":["x"]}}}`, nil},
		{"the constant null", `{"type":"object","properties":{"n":{"const":null}}}`, `{"type":"object","properties":{"n":{"enum":[null]}}}`, nil},
		{"a choice", `{"type":"object","properties":{"n":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`,
			`{"type":"object","properties":{"n":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, nil},
		{"two choices", `{"properties":{"n":{"anyOf":[{"type":"string"}],"oneOf":[{"minLength":1}]}}}`,
			`{"type":"object","properties":{"n":{"anyOf":[{"type":"string"}]}}}`, []string{"/properties/n/oneOf: there is an anyOf as well true"}},
		{"an object within", `{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}}}`,
			`{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"number"}}}}}`, []string{"/properties/p/required false"}},
		{"a list", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"number","minimum":1},"minItems":1}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"number","minimum":1}}}}`, []string{"/properties/l/minItems false"}},
		{"a list of references", `{"properties":{"l":{"items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"type":"number"}}}`,
			`{"type":"object","properties":{"l":{"items":{"type":"number"}}}}`, nil},
		{"a reference", `{"type":"object","properties":{"p":{"$ref":"#/$defs/a~1b","description":"Here.","minimum":1}},"$defs":{"a/b":{"type":"number","description":"There."}}}`,
			`{"type":"object","properties":{"p":{"type":"number","description":"Here."}}}`, []string{"/properties/p/minimum false"}},
		{"a reference into a list", `{"properties":{"p":{"$ref":"#/properties/q/anyOf/0"},"q":{"anyOf":[{"type":"number"}]}}}`,
			`{"type":"object","properties":{"p":{"type":"number"},"q":{"anyOf":[{"type":"number"}]}}}`, nil},
		{"a reference at the top", `{"$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"x":{"type":"number"}}}}}`,
			`{"type":"object","properties":{"x":{"type":"number"}}}`, nil},
		{"a choice at the top", `{"oneOf":[{"type":"object"}]}`, `{"type":"object","properties":{}}`, []string{"/oneOf true"}},
		{"any value", `{"properties":{"x":true}}`, `{"type":"object","properties":{"x":{}}}`, nil},
		{"no value", `{"properties":{"x":false}}`, `{"type":"object","properties":{"x":{}}}`,
			[]string{"/properties/x: got false; expected an object of keywords true"}},
		{"all of several", `{"properties":{"x":{"allOf":[{"type":"string"}]}}}`, `{"type":"object","properties":{"x":{}}}`, []string{"/properties/x/allOf true"}},
		{"a negation", `{"properties":{"x":{"type":"number","not":{"const":0}}}}`, `{"type":"object","properties":{"x":{"type":"number"}}}`, []string{"/properties/x/not true"}},
		{"a foreign reference", `{"properties":{"x":{"$ref":"https://example.org/s.json"}}}`, `{"type":"object","properties":{"x":{}}}`,
			[]string{`/properties/x: $ref "https://example.org/s.json" is not within the schema; expected #/… true`}},
		{"a reference to nothing", `{"properties":{"x":{"$ref":"#/$defs/y"}}}`, `{"type":"object","properties":{"x":{}}}`,
			[]string{`/properties/x: $ref "#/$defs/y" leads to nothing true`}},
		{"a reference to itself", `{"properties":{"x":{"$ref":"#/properties/x"}}}`, `{"type":"object","properties":{"x":{}}}`,
			[]string{`/properties/x: $ref "#/properties/x" leads to itself true`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, losses := convert(t, test.schema)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if diff := cmp.Diff(test.losses, losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// Schemas without end, or that grow when their references are written out, are
// cut, and say so.
func TestToolsIsBounded(t *testing.T) {
	for name, schema := range map[string]string{
		"a tree":          `{"properties":{"x":{"$ref":"#/$defs/t"}},"$defs":{"t":{"properties":{"left":{"$ref":"#/$defs/t"}}}}}`,
		"two trees":       `{"properties":{"x":{"$ref":"#/$defs/t"}},"$defs":{"t":{"properties":{"l":{"$ref":"#/$defs/t"},"r":{"$ref":"#/$defs/t"}}}}}`,
		"the whole":       `{"properties":{"x":{"$ref":"#"}}}`,
		"powers of three": `{"properties":{"x":{"anyOf":[{"$ref":"#/$defs/h0"},{"$ref":"#/$defs/h0"},{"$ref":"#/$defs/h0"}]}},"$defs":{"h0":{"items":` + powerOfThree(7) + `}}}`,
	} {
		got, losses := convert(t, schema)
		if len(losses) == 0 || len(losses) > maxSchemas || !strings.HasSuffix(losses[0], "true") || len(got) > 200_000 {
			t.Errorf("%s: %d bytes, %d losses", name, len(got), len(losses))
		}
	}
}

// powerOfThree is a choice of choices, with three to the given power at the end.
func powerOfThree(power int) string {
	if power == 0 {
		return `{}`
	}
	h := powerOfThree(power - 1)
	return `{"anyOf":[` + h + `,` + h + `,` + h + `]}`
}

func TestToolsErrors(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"a list of arguments":  {`{"type":"array"}`, "got type array; expected an object"},
		"no arguments":         {`false`, "expected an object of keywords"},
		"not JSON":             {`{`, "expected an object of keywords"},
		"a keyword of a list":  {`{"properties":[]}`, "expected an object of keywords"},
		"a property twice":     {`{"properties":{"x":{},"x":{}}}`, `"x"`},
		"a reference outwards": {`{"$ref":"https://example.org/s.json"}`, "is not within the schema"},
		"a circle":             {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "leads to itself"},
	} {
		_, _, err := Tools([]Function{{Name: "fine"}, {Name: "odd", Parameters: json.RawMessage(test.schema)}})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"odd"`) {
			t.Errorf("%s: got %v, want …%s…", name, err, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	var r Reply
	if err := json.Unmarshal([]byte(`{"eval_count":2147483647,"prompt_eval_count":null}`), &r); err != nil || r.EvalCount != 1<<31-1 || r.PromptEvalCount != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, text := range []string{"-1", "1.5", "2147483648", `"7"`, "1e3"} {
		if err := json.Unmarshal([]byte(`{"eval_count":`+text+`}`), &r); err == nil || !strings.Contains(err.Error(), "expected a whole number") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
