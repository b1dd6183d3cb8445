package tools_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolgym/tools"
)

// What is wrong with a declaration is said in the words of JSON and its schema,
// and where: not in those of Go's types, nor of the validator's inner steps.
func TestMisdeclaredTools(t *testing.T) {
	for name, test := range map[string]struct{ declaration, where, message string }{
		"a number":              {`1`, "", "this is no tool: got number, want object"},
		"a list":                {`[]`, "", "this is no tool: got array, want object"},
		"a name of a number":    {`{"name":1}`, "", "this is no tool: got number as name"},
		"an unknown field":      {`{"name":"a","params":{}}`, "", `this is no tool: unknown field "params"`},
		"an unknown type":       {`{"name":"a","parameters":{"type":"objekt"}}`, "/parameters/type", "value must be one of 'array', 'boolean'"},
		"an unknown inner type": {`{"function":{"name":"a","parameters":{"type":"object","properties":{"x/y":{"type":"strnig"}}}}}`, "/function/parameters/properties/x~1y/type", "value must be one of 'array', 'boolean'"},
		"a pattern":             {`{"name":"a","parameters":{"type":"object","properties":{"x":{"pattern":"("}}}}`, "/parameters/properties/x/pattern", "'(' is not valid regex"},
		"another document":      {`{"name":"a","parameters":{"$ref":"http://example.com/x.json"}}`, "/parameters", "leaves the schema"},
	} {
		t.Run(name, func(t *testing.T) {
			var tool tools.Tool
			err := json.Unmarshal([]byte(test.declaration), &tool)
			refusal, ok := errors.AsType[*tools.Error](err)
			if !ok || refusal.Where != test.where || !strings.Contains(refusal.Message, test.message) {
				t.Fatalf("%#v, want %q at %q", err, test.message, test.where)
			}
			for _, inner := range []string{"struct {", "Go value", "metaschema", "urn:", "allOf"} {
				if strings.Contains(refusal.Error(), inner) {
					t.Errorf("it tells of %s: %v", inner, refusal)
				}
			}
		})
	}
}
