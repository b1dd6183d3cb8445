package parse_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// fieldCase is one line of testdata/tool_calls.jsonl: a real failure, and its
// right reading.
type fieldCase struct {
	ID           string          `json:"id"`
	Family       parse.Family    `json:"family"`
	FinishReason string          `json:"finish_reason"`
	Input        json.RawMessage `json:"input"`
	Tools        tools.Set       `json:"tools"`
	Expected     struct {
		Calls       []tools.Call   `json:"calls"`
		FormatOK    bool           `json:"format_ok"`
		SchemaValid *bool          `json:"schema_valid"`
		Tier        parse.Tier     `json:"tier"`
		Defects     []parse.Defect `json:"defects"`
	} `json:"expected"`
}

// request makes the input of a case: text, a stream, or a server's message.
func (c fieldCase) request(t *testing.T) parse.Request {
	t.Helper()
	r := parse.Request{Input: parse.Input{Family: c.Family, FinishReason: c.FinishReason}, Tools: c.Tools}
	var stream struct{ Stream []json.RawMessage }
	switch {
	case c.Input[0] == '"':
		r.Text = new(string)
		if err := json.Unmarshal(c.Input, r.Text); err != nil {
			t.Fatal(err)
		}
	case json.Unmarshal(c.Input, &stream) == nil && stream.Stream != nil:
		r.Stream = stream.Stream
	default:
		r.Message = c.Input
	}
	return r
}

func fieldCases(t testing.TB) (cases []fieldCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/tool_calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c fieldCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// equalCalls compares names exactly and arguments as JSON values.
func equalCalls(a, b tools.Call) bool {
	x, err := strictjson.Decode(a.Arguments)
	if err != nil {
		return false
	}
	y, err := strictjson.Decode(b.Arguments)
	return err == nil && a.Name == b.Name && strictjson.Equal(x, y)
}

func TestFieldCases(t *testing.T) {
	cases := fieldCases(t)
	if len(cases) != 88 {
		t.Fatalf("%d cases, want 88", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			got, err := c.request(t).Read()
			if err != nil {
				t.Fatal(err)
			}
			want := c.Expected
			if diff := cmp.Diff(want.Calls, got.Calls, cmp.Comparer(equalCalls), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("calls: %s", diff)
			}
			if got.Tier != want.Tier || got.FormatOK != want.FormatOK {
				t.Errorf("tier %s, format_ok %t; want %s, %t", got.Tier, got.FormatOK, want.Tier, want.FormatOK)
			}
			if diff := cmp.Diff(want.SchemaValid, got.SchemaValid); diff != "" {
				t.Errorf("schema_valid: %s", diff)
			}
			sorted := cmpopts.SortSlices(func(a, b parse.Defect) bool { return a < b })
			if diff := cmp.Diff(want.Defects, got.Defects, sorted, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("defects: %s", diff)
			}
		})
	}
}
