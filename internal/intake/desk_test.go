package intake_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolgym/internal/intake"
	"toolgym/tools"
)

func TestRefusals(t *testing.T) {
	tool := `{"name":"f","parameters":{"type":"object"}}`
	tests := []struct{ name, body, where, message string }{
		{"nothing", ``, "", "ends where an object is due"},
		{"a list", `[]`, "", "where an object is due"},
		{"two values", `{"text":""} {}`, "", `'{' after it`},
		{"no completion", `{}`, "", "given as text, as a message or as a stream"},
		{"two completions", `{"text":"","stream":[]}`, "", "given as text, as a message or as a stream"},
		{"a key twice", `{"text":"a","text":"b"}`, "", "stands twice"},
		{"an unknown field", `{"text":"","a/b~":1}`, "/a~1b~0", "unknown field"},
		{"a field in another case", `{"Text":""}`, "/Text", "unknown field"},
		{"invalid UTF-8", "{\"text\":\"\xff\"}", "", "UTF-8"},
		{"half of a pair", `{"text":"\ud800"}`, "", "surrogate"},
		{"text that is none", `{"text":5}`, "/text", "5"},
		{"text that is null", `{"text":null}`, "/text", "null"},
		{"an unknown family", `{"text":"","family":"latin"}`, "/family", "unknown family"},
		{"a family that is a list", `{"text":"","family":["hermes"]}`, "/family", "a list"},
		{"a finish reason that is an object", `{"text":"","finish_reason":{}}`, "/finish_reason", "an object"},
		{"a message that is a text", `{"message":"hello"}`, "/message", "a text"},
		{"a stream that is an object", `{"stream":{}}`, "/stream", "an object"},
		{"a chunk that is none", `{"stream":[{},7]}`, "/stream/1", "no JSON object"},
		{"tools that are an object", `{"text":"","tools":{}}`, "/tools", "an object"},
		{"a tool without a name", `{"text":"","tools":[` + tool + `,{"parameters":{}}]}`, "/tools/1/name", "no name"},
		{"a tool with a misspelt field", `{"text":"","tools":[{"type":"function","function":{"name":"f","parametres":{}}}]}`, "/tools/0", "parametres"},
		{"a tool twice", `{"text":"","tools":[` + tool + `,` + tool + `]}`, "/tools/1", "stands already"},
		{"a schema that is none", `{"text":"","tools":[{"name":"f","parameters":{"type":"thing"}}]}`, "/tools/0/parameters/type", "value must be one of"},
		{"a schema that reads a file", `{"text":"","tools":[{"name":"f","parameters":{"$ref":"file:///etc/passwd"}}]}`, "/tools/0/parameters", "leaves the schema"},
		{"a schema of a host", `{"text":"","tools":[{"name":"f","parameters":{"$ref":"http://127.0.0.1:1/x"}}]}`, "/tools/0/parameters", "leaves the schema"},
	}
	var desk intake.Desk
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // a list that was refused is remembered
				_, err := desk.Read(t.Context(), []byte(test.body))
				e := (*tools.Error)(nil)
				if !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != test.where || !strings.Contains(e.Error(), test.message) {
					t.Errorf("error %v, want one at %q about %q", err, test.where, test.message)
				}
			}
		})
	}
}

// Vendors' fields in a model's own message, and a wish for strictness, are
// nothing that a reading depends on.
func TestWhatIsWelcome(t *testing.T) {
	bodies := []string{
		`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}],"eval_count":3,"vendor":{"x":1}},"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}}]}`,
		`{"stream":[{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}}],"vendor":1}],"tools":[{"name":"f"}]}`,
		`{"text":"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>","tools":[{"name":"f","parameters":null}],"finish_reason":"whatever"}`,
		`{"text":"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>","tools":[{"name":"f","parameters":{"type":"object","properties":{"x":{"$ref":"#"}}}}]}`,
	}
	var desk intake.Desk
	for _, body := range bodies {
		if got, err := desk.Read(t.Context(), []byte(body)); err != nil || len(got.Calls) != 1 || got.SchemaValid == nil || !*got.SchemaValid {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// Equal lists are compiled once; many different ones are forgotten in time, and
// still answered rightly.
func TestToolsAreShared(t *testing.T) {
	var desk intake.Desk
	list := func(i int) []byte { return fmt.Appendf(nil, `[{"name":"f%d","parameters":{"type":"object"}}]`, i) }
	first, err := desk.Tools(list(0))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := desk.Tools(list(0)); &again[0] != &first[0] {
		t.Error("the same list was compiled twice")
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 1500 {
				if set, err := desk.Tools(list(i)); err != nil || set[0].Name != fmt.Sprintf("f%d", i) {
					t.Errorf("worker %d: list %d is %v, %v", worker, i, set.Names(), err)
				}
			}
		})
	}
	all.Wait()
	if none, err := desk.Tools([]byte("null")); err != nil || len(none) != 0 {
		t.Errorf("null is %v, %v", none, err)
	}
}
