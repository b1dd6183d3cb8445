package audit

import (
	"encoding/json"
	"maps"
	"slices"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// sample makes arguments that a tool's schema admits, as far as plain types,
// enumerations and minima go; the required ones only.
func sample(t tools.Tool) json.RawMessage {
	schema, _ := strictjson.Decode(t.Parameters) // a tool has compiled it
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	arguments := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) {
			declared, _ := properties[name].(map[string]any)
			arguments[name] = sampleValue(declared)
		}
	}
	return with(tools.Call{}, arguments).Arguments
}

func sampleValue(declared map[string]any) any {
	if enum, ok := declared["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	if minimum, ok := declared["minimum"]; ok {
		return minimum
	}
	switch declared["type"] {
	case "number", "integer":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "1"
}
