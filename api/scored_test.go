package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/grpo"
	"toolgym/tools"
)

// An answer that is written score by score is the one that encoding/json writes.
func TestScoresAreWrittenOneByOne(t *testing.T) {
	scorer, err := grpo.NewScorer(tools.Specs{tallySpec(nil)}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, api.Config{})
	right, other := adding(5), "<&> \u2028"
	for name, groups := range map[string][]grpo.Group{
		"no groups": {},
		"several":   {{ID: "a<", TaskID: "tally/0/5", Completions: []grpo.Completion{{Text: &right}, {Text: &other}}}, {ID: "b", TaskID: "tally/0/6", Completions: []grpo.Completion{}}, {ID: "c", TaskID: "tally/0/6", Completions: []grpo.Completion{{Text: &right}}}},
	} {
		t.Run(name, func(t *testing.T) {
			request := grpo.Request{Groups: groups}
			response, err := scorer.Score(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(response); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), f.ask("POST", "/v1/score", written(t, request)).body); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A request of more completions than are allowed is refused before any is scored,
// and one whose scores take more memory than there is when that is known.
func TestCompletionsAreBounded(t *testing.T) {
	empty := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`{"text":""},`, n), ",") + "]" }
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	attempts, err := json.Marshal(strings.Repeat(`<tool_call>{"name":"add","arguments":{}}</tool_call>`, 5000))
	if err != nil {
		t.Fatal(err)
	}
	many := `{"calls":` + list(250, `{"name":"add","arguments":{"n":5}}`) + `}`
	var patterns []string // a group each, of 20 tools that compile to 80 kB each
	for i := range 20 {
		var declared []string
		for j := range 20 {
			declared = append(declared, fmt.Sprintf(`{"name":"f%d","parameters":{"properties":{"a":{"pattern":"^([a-z]x{900})%d$"}}}}`, j, i))
		}
		patterns = append(patterns, `{"id":"g","completions":[],"expected":{"answer":5},"tools":[`+strings.Join(declared, ",")+`]}`)
	}
	f := serve(t, api.Config{MaxCompletions: 500, MaxScoring: 1 << 20})
	doc := readContract(t, f)
	for _, test := range []struct {
		name, path, body string
		status           int
		said             string
	}{
		{"as many as are allowed", "/v1/score", groupOf(adder, addFive, empty(499)), 200, ""},
		{"one more", "/v1/score", groupOf(adder, addFive, empty(500)), 413, "501 completions and groups; expected at most 500"},
		{"many groups", "/v1/score", `{"groups":` + list(501, `{"id":"g","task_id":"tally/0/1","completions":[]}`) + `}`, 413, "501 completions and groups"},
		{"as many queries as are allowed", "/get_reward", fmt.Sprintf(`{"query":%s,"prompts":%[1]s,"labels":%s}`, list(500, `""`), list(500, `"tally/0/1"`)), 200, ""},
		{"one query more", "/get_reward", fmt.Sprintf(`{"query":%s,"prompts":%[1]s,"labels":%s}`, list(501, `""`), list(501, `"tally/0/1"`)), 413, "501 completions"},
		{"attempts that take much memory", "/v1/score", groupOf(adder, addFive, list(10, `{"text":`+string(attempts)+`}`)), 413, "the tools and scores take more than 16777216 bytes"},
		{"tools that compile to much memory", "/v1/score", `{"groups":[` + strings.Join(patterns, ",") + `]}`, 413, "the tools and scores take more than 16777216 bytes"},
		{"the same tools many times", "/v1/score", `{"groups":` + list(100, patterns[0]) + `}`, 200, ""},
		{"expected calls that are missing", "/v1/score", groupOf(adder, many, empty(499)), 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("POST", test.path, test.body)
			if got.status != test.status || !strings.Contains(got.body, test.said) {
				t.Errorf("%d %.400s; want %d with %q", got.status, got.body, test.status, test.said)
			}
			if test.path == "/v1/score" {
				doc.check(t, "POST", test.path, got)
			}
			// What was taken is given back: the next request has all of it.
			if got := f.ask("POST", "/v1/score", groupOf(adder, addFive, empty(400))); got.status != http.StatusOK {
				t.Errorf("the next request: %d %.300s", got.status, got.body)
			}
		})
	}
}
