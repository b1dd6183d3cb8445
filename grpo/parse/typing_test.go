package parse_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// declare makes one tool f with a schema.
func declare(t *testing.T, schema string) tools.Set {
	t.Helper()
	tool, err := tools.Declare("f", "", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return tools.Set{tool}
}

// TestTypingByTheResolvedSchema writes one value as text between tags.
func TestTypingByTheResolvedSchema(t *testing.T) {
	tests := []struct{ name, property, text, want string }{
		{"reference", `{"$ref": "#/$defs/n"}`, "5", `5`},
		{"reference to a reference", `{"$ref": "#/$defs/r"}`, "5", `5`},
		{"escaped pointer", `{"$ref": "#/$defs/a~1b"}`, "true", `true`},
		{"reference to nothing is text", `{}`, "5", `"5"`},
		{"anyOf", `{"anyOf": [{"type": "boolean"}, {"type": "null"}]}`, "null", `null`},
		{"oneOf with text", `{"oneOf": [{"type": "integer"}, {"type": "string"}]}`, "5", `"5"`},
		{"allOf narrows", `{"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}`, "5", `5`},
		{"list of types", `{"type": ["number", "null"]}`, "1.5", `1.5`},
		{"enum of numbers", `{"enum": [1, 2.5]}`, "2.5", `2.5`},
		{"enum of texts", `{"enum": ["1", "2"]}`, "2", `"2"`},
		{"constant", `{"const": true}`, "TRUE", `true`},
		{"constant null", `{"const": null}`, "null", `null`},
		{"object", `{"type": "object"}`, ` {"a": [1]} `, `{"a":[1]}`},
		{"list for an object", `{"type": "object"}`, `[1]`, `"[1]"`},
		{"object with a key twice", `{"type": "object"}`, `{"a": 1, "a": 2}`, `"{\"a\": 1, \"a\": 2}"`},
		{"integer with a fraction", `{"type": "integer"}`, "3.5", `3.5`},
		{"leading zero", `{"type": "integer"}`, "05", `"05"`},
		{"NaN", `{"type": "number"}`, "NaN", `"NaN"`},
		{"None", `{"type": ["integer", "null"]}`, "None", `"None"`},
		{"schema true", `true`, "5", `"5"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := declare(t, fmt.Sprintf(`{"type": "object", "properties": {"v": %s}, "$defs": {
				"n": {"type": "integer"}, "r": {"$ref": "#/$defs/n"}, "c": {"$ref": "#/$defs/c"}, "a/b": {"type": "boolean"},
				"w": {"anyOf": [{"$ref": "#/$defs/w"}, {"$ref": "#/$defs/w"}, {"$ref": "#/$defs/w"}]}}}`, tt.property))
			text := qwenCall("f", "<parameter=v>\n"+tt.text+"\n</parameter>\n")
			got, err := parse.NewReader(set).Read(parse.Input{Text: &text, Family: parse.Qwen3Coder})
			if err != nil || len(got.Calls) != 1 {
				t.Fatalf("%s, %v", summary(got), err)
			}
			if arguments := compact(got.Calls[0].Arguments); arguments != `{"v":`+tt.want+`}` {
				t.Errorf("got %s, want %s", arguments, tt.want)
			}
		})
	}
}

func TestUnknownArguments(t *testing.T) {
	tests := []struct {
		name, schema, arguments string
		want                    []string
	}{
		{"open", `{"properties": {"a": {}}}`, `{"a": 1, "c": 1, "b": 1}`, []string{"b", "c"}},
		{"closed", `{"properties": {"a": {}}, "additionalProperties": false}`, `{"b": 1}`, []string{"b"}},
		{"closed and empty", `{"additionalProperties": false}`, `{"b": 1}`, []string{"b"}},
		{"free form", `{"type": "object"}`, `{"b": 1}`, []string{}},
		{"open by its own word", `{"properties": {"a": {}}, "additionalProperties": true}`, `{"b": 1}`, []string{}},
		{"open to a type", `{"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}`, `{"b": 1}`, []string{}},
		{"pattern", `{"properties": {"a": {}}, "patternProperties": {"^x": {}}}`, `{"x1": 1, "y": 1}`, []string{"y"}},
		{"reference at the top", `{"$ref": "#/$defs/o", "$defs": {"o": {"properties": {"a": {}}}}}`, `{"a": 1, "b": 1}`, []string{"b"}},
		{"combination at the top", `{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}`, `{"a": 1, "b": 1, "c": 1}`, []string{"c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := hermesCall("f", tt.arguments)
			got, err := parse.NewReader(declare(t, tt.schema)).Read(parse.Input{Text: &text, Family: parse.Hermes})
			if err != nil || len(got.Attempts) != 1 {
				t.Fatalf("%s, %v", summary(got), err)
			}
			if unknown := got.Attempts[0].UnknownArguments; !slices.Equal(unknown, tt.want) {
				t.Errorf("got %v, want %v", unknown, tt.want)
			}
			if got.Has(parse.DefectUnknownArgument) != (len(tt.want) > 0) {
				t.Errorf("defects %v", got.Defects)
			}
		})
	}
}

func TestCoercible(t *testing.T) {
	schema := `{"type": "object", "properties": {"n": {"type": "number"}, "i": {"type": "integer", "maximum": 9}, "b": {"type": "boolean"}, "s": {"type": "string"},
		"l": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object", "properties": {"a/b": {"type": "integer"}}}}}`
	tests := []struct {
		arguments string
		want      bool
	}{
		{`{"n": "1.5"}`, true}, {`{"i": "5"}`, true}, {`{"b": "true"}`, true}, {`{"s": 5}`, true}, {`{"s": false}`, true},
		{`{"l": [1, "2"]}`, true}, {`{"o": {"a/b": "1"}}`, true}, {`{"n": "1", "b": "false"}`, true},
		{`{"i": "10"}`, false}, {`{"i": "five"}`, false}, {`{"i": 1.5}`, false}, {`{"b": "yes"}`, false}, {`{"b": 1}`, false},
		{`{"o": "{}"}`, false}, {`{"l": "[1]"}`, false}, {`{"n": null}`, false}, {`{"n": "1", "i": 12}`, false}, {`{"n": 1}`, false},
	}
	reader := parse.NewReader(declare(t, schema))
	for _, tt := range tests {
		t.Run(tt.arguments, func(t *testing.T) {
			text := hermesCall("f", tt.arguments)
			got, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes})
			if err != nil || len(got.Attempts) != 1 {
				t.Fatalf("%s, %v", summary(got), err)
			}
			if a := got.Attempts[0]; a.Coercible != tt.want || string(a.Arguments) != tt.arguments {
				t.Errorf("coercible %t, arguments %s", a.Coercible, a.Arguments)
			}
		})
	}
}
