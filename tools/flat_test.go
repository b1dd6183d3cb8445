package tools

import (
	"bytes"
	"encoding/json"
	"testing"

	"toolgym/internal/strictjson"
)

func decodeSchema(t testing.TB, text string) any {
	t.Helper()
	value, err := strictjson.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFlatSchemas(t *testing.T) {
	tests := []struct {
		name, schema string
		flat         bool
	}{
		{"two numbers", `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","description":"b"}},"required":["a"],"additionalProperties":false}`, true},
		{"nothing", `{"type":"object","properties":{},"additionalProperties":false}`, true},
		{"bounds and choices", `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","enum":["x","y"]},"t":{"type":"boolean","default":true}},"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{}}`, false},
		{"a fraction as a bound", `{"type":"object","properties":{"n":{"type":"number","minimum":0.5}},"additionalProperties":false}`, false},
		{"a list", `{"type":"object","properties":{"l":{"type":"array"}},"additionalProperties":false}`, false},
		{"two types", `{"type":"object","properties":{"n":{"type":["number","null"]}},"additionalProperties":false}`, false},
		{"a pattern", `{"type":"object","properties":{"s":{"type":"string","pattern":"x"}},"additionalProperties":false}`, false},
		{"an unknown keyword at the top", `{"type":"object","properties":{},"additionalProperties":false,"minProperties":1}`, false},
		{"a requirement of nothing declared", `{"type":"object","properties":{},"required":["a"],"additionalProperties":false}`, false},
		{"a schema that is true", `true`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := newFlat(decodeSchema(t, test.schema)) != nil; got != test.flat {
				t.Errorf("flat: %v", got)
			}
		})
	}
}

func TestFlatAcceptsThePlainCases(t *testing.T) {
	f := newFlat(decodeSchema(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"x":{"type":"number"},"s":{"type":"string","enum":["x","y"]},"t":{"type":"boolean"}},"required":["n"],"additionalProperties":false}`))
	tests := []struct {
		value string
		want  bool
	}{
		{`{"n":1}`, true}, {`{"n":9,"x":-0.5,"s":"y","t":false}`, true},
		{`{}`, false}, {`{"n":0}`, false}, {`{"n":10}`, false}, {`{"n":1,"s":"z"}`, false}, {`{"n":1,"q":1}`, false}, {`{"n":"1"}`, false}, {`{"n":1,"t":"true"}`, false}, {`[]`, false},
		{`{"n":1.0}`, false}, // valid, but for the general validator to say
	}
	for _, test := range tests {
		t.Run(test.value, func(t *testing.T) {
			if got := f.accepts(decodeSchema(t, test.value)); got != test.want {
				t.Errorf("accepts: %v", got)
			}
		})
	}
}

// FuzzFlat compares with the general validator: what the flat check accepts is
// valid.
func FuzzFlat(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"integer","minimum":-3}},"required":["a"],"additionalProperties":false}`), []byte(`{"a":1,"b":-3}`))
	f.Add([]byte(`{"type":"object","properties":{"s":{"type":"string","enum":["x"]},"t":{"type":"boolean"}},"additionalProperties":false}`), []byte(`{"s":"x","t":true}`))
	f.Add([]byte(`{"type":"object","properties":{"n":{"type":"number","maximum":7}},"additionalProperties":false}`), []byte(`{"n":-0}`))
	f.Fuzz(func(t *testing.T, schemaText, valueText []byte) {
		s, err := compile(json.RawMessage(bytes.Clone(schemaText)))
		if err != nil || s.flat == nil {
			return
		}
		value, err := strictjson.Decode(valueText)
		if err != nil || !s.flat.accepts(value) {
			return
		}
		if !allHoldable(value) {
			t.Fatalf("%s holds a number that is refused for its size", valueText)
		}
		if err := s.compiled.Validate(value); err != nil {
			t.Fatalf("%s is accepted against %s: %v", valueText, schemaText, err)
		}
	})
}
