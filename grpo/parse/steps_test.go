package parse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// doubling is a schema that applies itself twice to an argument, so that each
// level of the arguments takes twice the steps of the one before.
const doubling = `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`

func doublingReader(t *testing.T) *parse.Reader {
	t.Helper()
	tool, err := tools.Declare("f", "", json.RawMessage(doubling))
	if err != nil {
		t.Fatal(err)
	}
	return parse.NewReader(tools.Set{tool})
}

func nested(depth int) string {
	return fmt.Sprintf("<tool_call>\n{\"name\":\"f\",\"arguments\":%s}\n</tool_call>", strings.Repeat(`{"a":`, depth)+"{}"+strings.Repeat("}", depth))
}

// Arguments that take too many steps to be checked are a failure of the harness,
// and nothing is said about whether they are valid.
func TestArgumentsThatTakeTooManySteps(t *testing.T) {
	reader := doublingReader(t)
	reader.Limits.Steps = tools.MaxSteps / 10
	for _, test := range []struct {
		name, text string
		failed     string
	}{
		{"few steps", nested(10), ""},
		{"too many steps", nested(40), "attempt 0"},
		{"too many of one attempt among others", nested(10) + nested(40) + nested(11), "attempt 1"},
		{"too many of all attempts together", strings.Repeat(nested(12), 60), "attempt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &test.text, Family: parse.Hermes})
			if err != nil {
				t.Fatal(err)
			}
			if test.failed == "" {
				if got.Failure != nil || got.SchemaValid == nil || !*got.SchemaValid {
					t.Errorf("failure %v, valid %v", got.Failure, got.SchemaValid)
				}
				return
			}
			if got.Failure == nil || got.Failure.Kind != "harness" || !strings.Contains(got.Failure.Reason, test.failed) || !strings.Contains(got.Failure.Reason, "steps") {
				t.Fatalf("failure %v", got.Failure)
			}
			if got.SchemaValid != nil {
				t.Errorf("the schema is said to be kept: %v", *got.SchemaValid)
			}
		})
	}
}

// What an argument's schema admits is found out once, however long its list of
// values is and however often the argument comes.
func TestKindsOfManyArguments(t *testing.T) {
	values := strings.TrimSuffix(strings.Repeat(`"x",`, 9000), ",")
	tool, err := tools.Declare("f", "", json.RawMessage(`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/v"},{"$ref":"#/$defs/v"}]}},"$defs":{"v":{"enum":[`+values+`]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("<tool_call>\n<function=f>\n<parameter=a>\n12\n</parameter>\n</function>\n</tool_call>\n", 2000)
	got, err := parse.NewReader(tools.Set{tool}).Read(parse.Input{Text: &text, Family: parse.Qwen3Coder})
	if err != nil || len(got.Calls) != 2000 || string(got.Calls[1999].Arguments) != `{"a":"12"}` {
		t.Fatalf("%d calls, %v", len(got.Calls), err)
	}
}

// Reading, and the checking of arguments after it, end with the context.
func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n", 1000)
	reader := doublingReader(t)
	whole, _ := reader.Work(t.Context(), parse.Input{Text: &text, Family: parse.Hermes})
	if ended, _ := reader.Work(ctx, parse.Input{Text: &text, Family: parse.Hermes}); ended > whole/100 {
		t.Errorf("%d bytes were looked at after the context's end; want at most a hundredth of %d", ended, whole)
	}
	content := fmt.Sprintf(`{"role":"assistant","content":%q}`, text)
	for name, in := range map[string]parse.Input{
		"text":    {Text: &text},
		"message": {Message: json.RawMessage(content)},
		"calls":   {Message: json.RawMessage(`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":{}}}}]}`)},
		"stream":  {Stream: []json.RawMessage{json.RawMessage(`{"message":` + content + `,"done":true}`)}},
	} {
		var got parse.Reading
		if err := reader.ReadInto(ctx, &got, in); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v; want the context's", name, err)
		}
		if err := reader.ReadInto(t.Context(), &got, in); err != nil || got.Failure != nil || len(got.Calls) == 0 {
			t.Errorf("%s, with a context that goes on: %d calls, failure %v, error %v", name, len(got.Calls), got.Failure, err)
		}
	}
}
