package tools

import (
	"encoding/json"
	"fmt"

	"toolgym/internal/strictjson"
)

// decode fills In from arguments that are valid against its schema. Numbers
// that are integers by value, like 1.0 and 1e3, fill integer fields as well:
// encoding/json refuses them, so they are written out as integers first.
func decode[In any](arguments json.RawMessage, value any) (In, error) {
	var in In
	err := json.Unmarshal(arguments, &in)
	if err == nil {
		return in, nil
	}
	plain, marshalErr := json.Marshal(writeIntegers(value))
	if marshalErr != nil {
		return in, fmt.Errorf("writing numbers out: %w", marshalErr)
	}
	var again In
	return again, json.Unmarshal(plain, &again)
}

func writeIntegers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return integerText(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = writeIntegers(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = writeIntegers(item)
		}
		return out
	}
	return value
}

// integerText writes 1.0 as 1 and 1e3 as 1000, and leaves other numbers alone.
func integerText(n json.Number) json.Number {
	if integer, ok := strictjson.Integer(n); ok {
		return json.Number(integer.String())
	}
	return n
}
