package match

import (
	"slices"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Offered are tools made ready for [Expected.CompileFor]: what their schemas say
// is read once for many tasks. It is safe for concurrent use.
type Offered struct {
	set      tools.Set
	declared map[string]declaration
}

// Offer reads what the tools declare.
func Offer(set tools.Set) *Offered {
	o := &Offered{set: set, declared: make(map[string]declaration, len(set))}
	for _, tool := range set {
		if _, twice := o.declared[tool.Name]; !twice {
			o.declared[tool.Name] = declarations(tool)
		}
	}
	return o
}

// declaration is the schemas of a tool's arguments, by name.
type declaration struct {
	names    map[string]bool
	all      bool           // names are all that the tool speaks of
	defaults map[string]any // of optional arguments only
}

// further are the keywords that can declare arguments beside "properties".
var further = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"}

// declarations reads the properties of a tool's schema. Only the schema's own
// top level is read: a default behind a reference is a note for readers and
// changes no meaning.
func declarations(tool tools.Tool) declaration {
	d := declaration{names: map[string]bool{}, defaults: map[string]any{}}
	value, err := strictjson.Decode(tool.Parameters)
	if err != nil {
		return d // a Tool has compiled its schema; without one it declares nothing
	}
	schema, _ := value.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		d.names[name] = true
		if p, ok := property.(map[string]any); ok {
			if value, ok := p["default"]; ok {
				d.defaults[name] = value
			}
		}
	}
	d.all = len(properties) > 0 && !slices.ContainsFunc(further, func(keyword string) bool { return schema[keyword] != nil })
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			delete(d.defaults, name)
		}
	}
	return d
}
