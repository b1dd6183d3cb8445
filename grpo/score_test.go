package grpo_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo"
)

// declared are two tools of a task that asks for add(a=1, b=2).
const declared = `[{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","maximum":100}},"required":["a","b"],"additionalProperties":false}}},` +
	`{"type":"function","function":{"name":"list","description":"Lists.","parameters":{"type":"object","properties":{}}}}]`

const oneCall = `{"calls":[{"name":"add","arguments":{"a":1,"b":2}}]}`

func call(arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": \"add\", \"arguments\": %s}\n</tool_call>", arguments)
}

// text writes a completion that is one text.
func text(s string) string {
	quoted, _ := json.Marshal(s)
	return `{"text":` + string(quoted) + `,"family":"hermes"}`
}

// request decodes a request of one group, as the REST API would.
func request(t testing.TB, expected string, completions ...string) grpo.Request {
	t.Helper()
	body := `{"groups":[{"id":"g","tools":` + declared + `,"expected":` + expected + `,"completions":[` + strings.Join(completions, ",") + `]}]}`
	return decode(t, body)
}

func decode(t testing.TB, body string) grpo.Request {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	var r grpo.Request
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func score(t testing.TB, r grpo.Request) grpo.Response {
	t.Helper()
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Score(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func tolerance() cmp.Option { return cmpopts.EquateApprox(0, 1e-9) }

// show prints what a pointer points at.
func show(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func values(c grpo.Criteria) map[string]float64 {
	out := map[string]float64{}
	for score := range c.All() {
		if score.Error == "" {
			out[score.Name] = score.Value
		}
	}
	return out
}

func TestScoreOfOneText(t *testing.T) {
	tests := []struct {
		name, expected, text string
		reward               float64
		tier                 string
		verdicts             string
	}{
		{"right", oneCall, call(`{"a":1,"b":2}`), 5.45, "strict", "right"},
		{"right after reasoning", oneCall, "<think>hm</think>" + call(`{"a":1,"b":2.0}`), 5.45, "strict", "right"},
		{"near miss", oneCall, call(`{"a":1,"b":3}`), 2.45, "strict", "wrong"},
		{"invalid value", oneCall, call(`{"a":1,"b":"2"}`), 0.95, "strict", "wrong"},
		{"another tool", oneCall, `<tool_call>{"name":"list","arguments":{}}</tool_call>`, 2.45, "strict", "extra"},
		{"unknown tool", oneCall, `<tool_call>{"name":"sum","arguments":{"a":1,"b":2}}</tool_call>`, 0.95, "strict", "extra"},
		{"called twice", oneCall, call(`{"a":1,"b":2}`) + call(`{"a":1,"b":2}`), 2.45, "strict", "right repeated"},
		{"cut off", oneCall, call(`{"a":1,`), -0.05, "none", "lost"},
		{"no call", oneCall, "It is 3.", 0.95, "answer", ""},
		{"empty", oneCall, "", 0.95, "answer", ""},
		{"made-up result", oneCall, call(`{"a":1,"b":2}`) + "<tool_response>3</tool_response>", 1.45, "envelope", "right"},
		{"no call where none is wanted", `{"calls":[]}`, "Hello!", 5.45, "answer", ""},
		{"a call where none is wanted", `{"calls":[]}`, call(`{"a":1,"b":2}`), 2.45, "strict", "extra"},
		{"an answer", `{"answer":3}`, "It is 3.", 5.45, "answer", ""},
		{"another answer", `{"answer":3}`, "It is 4.", 2.45, "answer", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := score(t, request(t, test.expected, text(test.text))).Groups[0].Completions[0]
			var verdicts []string
			for _, c := range got.Calls {
				verdicts = append(verdicts, c.Verdict)
			}
			if got.Reward == nil || math.Abs(*got.Reward-test.reward) > 1e-9 || string(got.Tier) != test.tier || strings.Join(verdicts, " ") != test.verdicts {
				t.Errorf("reward %v, tier %s, verdicts %q; want %v, %s, %q\n%+v", got.Reward, got.Tier, verdicts, test.reward, test.tier, test.verdicts, values(got.Criteria))
			}
			if got.Success != (test.reward > 5) || !got.Valid || got.Failure != nil {
				t.Errorf("success %v, valid %v, failure %v", got.Success, got.Valid, got.Failure)
			}
		})
	}
}

// episode writes the messages of three assistant turns: two calls and an
// answer.
func episode(second string) string {
	return `{"messages":[
		{"role":"user","content":"Add."},
		{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"list","arguments":{}}}],"eval_count":10,"total_duration":77},
		{"role":"tool","tool_call_id":"1","content":"[]"},
		{"role":"assistant","content":"","tool_calls":[{"id":"2","function":{"name":"add","arguments":` + second + `}}],"eval_count":20},
		{"role":"tool","tool_call_id":"2","content":"3"},
		{"role":"assistant","content":"It is 3.","eval_count":5}]}`
}

const twoCalls = `{"calls":[{"name":"list"},{"name":"add","arguments":{"a":1,"b":2}}],"answer":3}`

// The published lab's example: full marks in three turns.
func TestThreeTurnsWithFullMarks(t *testing.T) {
	got := score(t, request(t, twoCalls, episode(`{"a":1,"b":2}`)))
	first := got.Groups[0].Completions[0]
	if first.Reward == nil || math.Abs(*first.Reward-5.35) > 1e-9 {
		t.Errorf("reward %v, want 5.35", first.Reward)
	}
	want := []grpo.CriterionScore{
		{Name: "format", Value: 1, Weight: 1, Reward: 1}, {Name: "schema", Value: 1, Weight: 1.5, Reward: 1.5},
		{Name: "completion", Value: 1, Weight: 3, Reward: 3}, {Name: "length", Value: 3, Weight: -0.05, Reward: -0.15},
	}
	if diff := cmp.Diff(want, slices.Collect(first.Criteria.All())[:4], tolerance()); diff != "" {
		t.Error(diff)
	}
	if length := got.Metrics[grpo.MetricMeanLength]; length == nil || *length != 35 {
		t.Errorf("mean length %v, want the 35 tokens that the server counted", length)
	}
}

func TestMissingCallsAreNamed(t *testing.T) {
	got := score(t, request(t, twoCalls, episode(`{"a":1,"b":5}`))).Groups[0].Completions[0]
	if len(got.Missing) != 1 || got.Missing[0].Name != "add" || string(got.Missing[0].Arguments) != `{"a":1,"b":2}` {
		t.Errorf("missing %v", got.Missing)
	}
	if c := got.Calls[1]; c.Turn != 1 || c.Verdict != grpo.VerdictWrong || *c.Expected != 1 || cmp.Diff([]string{"b"}, c.Differs) != "" {
		t.Errorf("call %+v", c)
	}
}

func TestServersFaultIsNotScored(t *testing.T) {
	lost := `{"messages":[{"role":"assistant","content":"","eval_count":40}]}`
	got := score(t, request(t, oneCall, text(call(`{"a":1,"b":2}`)), lost, text("")))
	g := got.Groups[0]
	if g.Size != 3 || g.Valid != 2 {
		t.Errorf("size %d, valid %d", g.Size, g.Valid)
	}
	c := g.Completions[1]
	if c.Reward != nil || c.Valid || c.Failure == nil || c.Failure.Kind != grpo.FailureServing || c.Advantage != 0 {
		t.Errorf("%+v", c)
	}
	if n := got.Metrics["failures/serving"]; n == nil || *n != 1 {
		t.Errorf("failures/serving is %v", n)
	}
	if sum := g.Completions[0].Advantage + g.Completions[2].Advantage; g.Completions[0].Advantage <= 0 || math.Abs(sum) > 1e-12 {
		t.Errorf("advantages %v and %v", g.Completions[0].Advantage, g.Completions[2].Advantage)
	}
}

func TestMeasures(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]float64
	}{
		{"a call", call(`{"a":1,"b":2}`), map[string]float64{"calls_emitted": 1, "calls_parsed": 1, "calls_valid": 1, "calls_executed": 1, "calls_needed": 1, "ungrounded_answer": 0}},
		{"a lost one beside it", call(`{"a":1,"b":2}`) + call(`{`), map[string]float64{"calls_emitted": 2, "calls_parsed": 1, "calls_valid": 1, "format": 0}},
		{"a hidden constraint", call(`{"a":1,"b":200}`), map[string]float64{"hidden_violations": 1, "calls_valid": 0, "schema": 0}},
		{"a visible one", call(`{"a":1,"b":"2"}`), map[string]float64{"hidden_violations": 0, "calls_valid": 0}},
		{"half valid", call(`{"a":1,"b":2}`) + call(`{}`), map[string]float64{"schema": 0.5}},
		{"an answer out of the air", "It is 3.", map[string]float64{"ungrounded_answer": 1, "calls_emitted": 0}},
		{"an argument's declaration in its place", call(`{"a":{"type":"number"},"b":2}`), map[string]float64{"copied_schema": 1}},
		{"the schema as arguments", call(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","maximum":100}}}`), map[string]float64{"copied_schema": 1}},
		{"no copy", call(`{"a":{"type":"string"},"b":2}`), map[string]float64{"copied_schema": 0}},
		{"tags", "<answer>1</answer><answer></answer>", map[string]float64{"repeated_tags": 1, "empty_tags": 1}},
		{"a made-up result", "<tool_response>3</tool_response>", map[string]float64{"fabricated_result": 1}},
		{"words again and again", strings.Repeat("so it is ", 20), map[string]float64{"repetition": 54.0 / 57}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := values(score(t, request(t, oneCall, text(test.text))).Groups[0].Completions[0].Criteria)
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
		})
	}
}
