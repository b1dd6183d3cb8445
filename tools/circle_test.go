package tools_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolgym/tools"
)

// A schema that comes back to itself for the same value admits nothing and is
// refused; one that does so for a part of the value is a list or a tree.
func TestSchemasThatReferToThemselves(t *testing.T) {
	tests := []struct{ name, schema, circle string }{
		{"at once", `{"$ref":"#"}`, `"#"`},
		{"by a definition", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, "/$defs/a"},
		{"by two", `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "/$defs/a"},
		{"in an argument", `{"properties":{"n":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/a"}]}}}`, "/$defs/a"},
		{"in a list", `{"properties":{"n":{"items":{"allOf":[{"$ref":"#/properties/n/items"}]}}}}`, "/properties/n/items"},
		{"in a condition", `{"if":{"$ref":"#"},"then":true}`, `"#"`},
		{"negated", `{"not":{"$ref":"#"}}`, `"#"`},
		{"by what depends on an argument", `{"dependentSchemas":{"n":{"$ref":"#"}}}`, `"#"`},
		{"dynamically", `{"$dynamicAnchor":"x","$dynamicRef":"#x"}`, `"#"`},

		{"a tree", `{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`, ""},
		{"a list of itself", `{"properties":{"next":{"type":"array","items":{"$ref":"#"},"contains":{"$ref":"#"}}}}`, ""},
		{"the rest of it", `{"additionalProperties":{"$ref":"#"},"patternProperties":{"^x":{"$ref":"#"}},"propertyNames":{"$ref":"#/$defs/name"},"$defs":{"name":{"minLength":1}}}`, ""},
		{"one definition twice", `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object"}}}`, ""},
		{"true", `true`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := tools.Declare("f", "", json.RawMessage(test.schema))
			e := (*tools.Error)(nil)
			switch {
			case test.circle == "" && err != nil:
				t.Error(err)
			case test.circle != "" && (!errors.As(err, &e) || e.Where != "/parameters" || !strings.Contains(e.Message, test.circle) || !strings.Contains(e.Message, "refers to itself")):
				t.Errorf("%v, want one about %s", err, test.circle)
			}
		})
	}
}
