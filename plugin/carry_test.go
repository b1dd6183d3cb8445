package plugin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
)

func TestCarryTools(t *testing.T) {
	tests := []struct {
		name, schema, want string
	}{
		{"none", `null`, `{"type":"object","properties":{}}`},
		{"no property", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{}}`},
		{"the order of the properties", `{"type":"object","properties":{"z":{"type":"number"},"a":{"type":"string","description":"A."}},"required":["z"]}`,
			`{"type":"object","required":["z"],"properties":{"z":{"type":"number"},"a":{"type":"string","description":"A."}}}`},
		{"bounds are left out", `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":5,"default":1}}}`,
			`{"type":"object","properties":{"n":{"type":"integer"}}}`},
		{"several types", `{"type":"object","properties":{"n":{"type":["integer","null"]}}}`,
			`{"type":"object","properties":{"n":{"type":["integer","null"]}}}`},
		{"an enumeration keeps its digits", `{"type":"object","properties":{"n":{"enum":[9007199254740993,"x"]}}}`,
			`{"type":"object","properties":{"n":{"enum":[9007199254740993,"x"]}}}`},
		{"a constant", `{"type":"object","properties":{"n":{"const":"x"}}}`, `{"type":"object","properties":{"n":{"enum":["x"]}}}`},
		{"a choice", `{"type":"object","properties":{"n":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`,
			`{"type":"object","properties":{"n":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		{"an object within", `{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}}}`,
			`{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"number"}}}}}`},
		{"a list", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"number","minimum":1}}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"number"}}}}`},
		{"a reference", `{"type":"object","properties":{"p":{"$ref":"#/$defs/a~1b","description":"Here."}},"$defs":{"a/b":{"type":"number","description":"There."}}}`,
			`{"type":"object","properties":{"p":{"type":"number","description":"Here."}}}`},
		{"a reference at the top", `{"$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"x":{"type":"number"}}}}}`,
			`{"type":"object","properties":{"x":{"type":"number"}}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			carried, err := carryTools(declared(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(carried[0].Function.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCarryToolsRefuses(t *testing.T) {
	tests := []struct {
		name, schema, want string
	}{
		{"a list of arguments", `{"type":"array"}`, "the type is array"},
		{"a choice at the top", `{"oneOf":[{"type":"object"}]}`, "a choice between schemas"},
		{"a schema that is no object", `true`, "no object of keywords"},
		{"a property that is no object", `{"properties":{"x":true}}`, "/properties/x: it is no object of keywords"},
		{"all of several", `{"properties":{"x":{"allOf":[{"type":"string"}]}}}`, "/properties/x: allOf and not"},
		{"not one", `{"properties":{"x":{"items":{"not":{"type":"string"}}}}}`, "/properties/x/items: allOf and not"},
		{"a foreign reference", `{"properties":{"x":{"$ref":"https://example.org/s.json"}}}`, "leaves the schema"},
		{"a reference to nothing", `{"properties":{"x":{"$ref":"#/$defs/y"}}}`, "points to nothing"},
		{"a reference to itself", `{"properties":{"x":{"$ref":"#/properties/x"}}}`, "leads to itself"},
		{"a tree", `{"properties":{"x":{"$ref":"#/$defs/t"}},"$defs":{"t":{"properties":{"left":{"$ref":"#/$defs/t"}}}}}`, "a $ref to itself"},
		{"a hydra", `{"properties":{"x":{"anyOf":[{"$ref":"#/$defs/h0"},{"$ref":"#/$defs/h0"},{"$ref":"#/$defs/h0"}]}},"$defs":{"h0":{"items":` + hydra(7) + `}}}`, "more than 2000 schemas"},
		{"a property twice", `{"properties":{"x":{},"x":{}}}`, "stands twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := carryTools(declared(test.schema))
			if !llms.IsInvalidRequestError(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"odd"`) {
				t.Errorf("got %v, want …%s…", err, test.want)
			}
		})
	}
}

// hydra is a schema of three to the given power.
func hydra(heads int) string {
	if heads == 0 {
		return `{}`
	}
	h := hydra(heads - 1)
	return `{"anyOf":[` + h + `,` + h + `,` + h + `]}`
}

func declared(schema string) []llms.Tool {
	return []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "odd", Parameters: json.RawMessage(schema)}}}
}
