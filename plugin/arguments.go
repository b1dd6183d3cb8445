package plugin

import (
	"encoding/json"
	"strings"

	"toolgym/internal/strictjson"
)

// arguments reads the one string that langchaingo hands to a tool. It should
// be the JSON object of the arguments. As in a structured message, nothing and
// null are no arguments, and a JSON string that holds an object is that
// object. Any other text is the value of the parameter only, where the tool has
// just that one and it is a string; only is "" where it has not. What can not
// be read is handed on as it is, for the tool's own check to say what is wrong.
func arguments(input, only string) json.RawMessage {
	text := strings.TrimSpace(input)
	if text == "" || text == "null" {
		return json.RawMessage("{}")
	}
	if strings.HasPrefix(text, "{") {
		return json.RawMessage(text)
	}
	value, err := strictjson.Decode([]byte(text))
	if quoted, ok := value.(string); err == nil && ok {
		if isObject(quoted) {
			return json.RawMessage(strings.TrimSpace(quoted))
		}
		input = quoted
	}
	if only == "" {
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{only: input})
	if err != nil {
		return json.RawMessage(text)
	}
	return wrapped
}

// isObject reports whether text is exactly one JSON object.
func isObject(text string) bool {
	value, err := strictjson.Decode([]byte(text))
	_, object := value.(map[string]any)
	return err == nil && object
}

// onlyString names the parameter of a schema that has no other, if it is a
// string.
func onlyString(parameters json.RawMessage) string {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(parameters, &schema); err != nil || len(schema.Properties) != 1 {
		return ""
	}
	for name, property := range schema.Properties {
		if property.Type == "string" {
			return name
		}
	}
	return ""
}
