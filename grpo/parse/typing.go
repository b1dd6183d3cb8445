package parse

import (
	"encoding/json"
	"strings"

	"toolgym/internal/strictjson"
)

// typed is an argument that was written as text between tags.
type typed struct {
	value   any
	text    []byte // the value as JSON
	defects []Defect
}

func kindOfValue(value any) kinds {
	switch v := value.(type) {
	case nil:
		return kindNull
	case string:
		return kindString
	case bool:
		return kindBoolean
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	case json.Number:
		if strictjson.IsInteger(v) {
			return kindInteger | kindNumber
		}
		return kindNumber
	}
	return kindAny
}

// typeValue reads the text of an argument as the schema types it. This is
// decoding, not leniency: the form itself carries no types. Where the schema
// admits a string, the text is that string; null is null only where the schema
// admits it; what cannot be read as an admitted type stays text, and the
// schema will say so.
func typeValue(raw string, admitted kinds, limits strictjson.Limits) typed {
	trimmed := strings.TrimSpace(raw)
	if trimmed == "null" && admitted&kindNull != 0 {
		return typed{nil, []byte("null"), nil}
	}
	if admitted&kindString != 0 {
		return asText(raw)
	}
	if admitted&kindBoolean != 0 {
		switch strings.ToLower(trimmed) {
		case "true":
			return typed{true, []byte("true"), nil}
		case "false":
			return typed{false, []byte("false"), nil}
		}
	}
	return typeLiteral(raw, trimmed, admitted, limits)
}

// typeLiteral reads numbers, lists and objects.
func typeLiteral(raw, trimmed string, admitted kinds, limits strictjson.Limits) typed {
	if admitted&kindInteger != 0 {
		admitted |= kindNumber // 3.5 is a number; that it is no integer is for the schema to say
	}
	if value, err := limits.DecodeString(trimmed); err == nil {
		if kindOfValue(value)&admitted != 0 {
			return typed{value, []byte(trimmed), nil}
		}
		return asText(raw)
	}
	if admitted&(kindArray|kindObject) == 0 {
		return asText(raw)
	}
	value, end, mends, err := limits.Literal(trimmed)
	if err != nil || end < len(trimmed) || kindOfValue(value)&admitted&(kindArray|kindObject) == 0 {
		return asText(raw)
	}
	return typed{value, strictjson.Append(nil, value), mendDefects(mends)}
}

func asText(raw string) typed {
	return typed{raw, strictjson.AppendString(nil, raw), nil}
}
