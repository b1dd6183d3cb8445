package tools_test

import (
	"encoding/json"
	"errors"
	"testing"

	"toolgym/tools"
)

// What is out of bounds is told with every digit, and in which direction it
// would be right.
func TestViolationsOfBounds(t *testing.T) {
	for _, test := range []struct{ name, schema, value, want string }{
		{"too small", `{"minimum":0}`, `-1`, "got -1, want at least 0"},
		{"too large, beyond float64", `{"maximum":9007199254740992}`, `9007199254740993`, "got 9007199254740993, want at most 9007199254740992"},
		{"written with an exponent", `{"maximum":1e6}`, `1e9`, "got 1000000000, want at most 1000000"},
		{"decimals", `{"exclusiveMinimum":0.125}`, `0.1249`, "got 0.1249, want more than 0.125"},
		{"not below", `{"exclusiveMaximum":10}`, `10.0`, "got 10, want less than 10"},
		{"no multiple", `{"multipleOf":0.5}`, `0.75`, "got 0.75, want a multiple of 0.5"},
		{"of many digits", `{"maximum":1}`, `1e400`, "got 1e+400, want at most 1"},
		{"of many decimals", `{"minimum":1}`, `1e-400`, "got 1e-400, want at least 1"},
		{"too short", `{"minLength":2}`, `"é"`, "got 1 characters, want at least 2"},
		{"too long", `{"maxLength":2}`, `"abc"`, "got 3 characters, want at most 2"},
		{"too few", `{"minItems":1}`, `[]`, "got 0 items, want at least 1"},
		{"too many", `{"maxItems":1}`, `[1,2]`, "got 2 items, want at most 1"},
		{"too few fields", `{"minProperties":1}`, `{}`, "got 0 properties, want at least 1"},
		{"too many fields", `{"maxProperties":1}`, `{"a":1,"b":2}`, "got 2 properties, want at most 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool, err := tools.Declare("f", "", json.RawMessage(`{"type":"object","properties":{"x":`+test.schema+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			violations := tool.Validate(json.RawMessage(`{"x":` + test.value + `}`))
			if len(violations) != 1 || violations[0].Message != test.want || violations[0].Pointer != "/x" {
				t.Errorf("got %v, want %s", violations, test.want)
			}
		})
	}
}

// A schema that is none is refused at the place that is wrong in it.
func TestSchemasThatAreNone(t *testing.T) {
	for _, test := range []struct{ name, schema, where, message string }{
		{"an unknown type", `{"type":"objekt"}`, "/parameters/type", "got string, want array, or value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'"},
		{"deep inside", `{"type":"object","properties":{"a":{"minLength":-1}}}`, "/parameters/properties/a/minLength", "got -1, want at least 0"},
		{"a list", `{"type":"object","properties":[]}`, "/parameters/properties", "got array, want object"},
		{"a text", `"x"`, "/parameters", "got string, want boolean or object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := tools.Declare("f", "", json.RawMessage(test.schema))
			e, ok := errors.AsType[*tools.Error](err)
			if !ok || e.Where != test.where || e.Message != test.message {
				t.Errorf("got %v", err)
			}
		})
	}
}
