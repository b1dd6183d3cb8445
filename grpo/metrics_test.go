package grpo_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
)

// Two groups by hand. The first scores 5.45, 2.45 and 0.95 (right, wrong,
// invalid), with mean 2.95 and std √(5.25); the second twice 0.95 (words alone,
// one of them cut off) and one that the server lost.
func TestMetricsByHand(t *testing.T) {
	body := fmt.Sprintf(`{"groups":[
		{"id":"x","tools":%[1]s,"expected":%[2]s,"completions":[%[3]s,%[4]s,%[5]s]},
		{"id":"y","tools":%[1]s,"expected":%[2]s,"completions":[{"text":"It is","finish_reason":"length","tokens":2},{"text":"It is 3.","tokens":4},{"messages":[{"role":"assistant","content":"","eval_count":9}]}]}]}`,
		declared, oneCall, text(call(`{"a":1,"b":2}`)), text(call(`{"a":1,"b":3}`)), text(call(`{"a":1,"b":"2"}`)))
	got := score(t, decode(t, body)).Metrics
	number := func(x float64) *float64 { return &x }
	want := grpo.Metrics{
		"reward": number((5.45 + 2.45 + 0.95 + 0.95 + 0.95) / 5), "reward_std": number(2.29128784747792 / 2), "frac_reward_zero_std": number(0.5),
		"completions/mean_length": nil, "completions/clipped_ratio": number(0.2), "completions/unrecognised_ratio": number(0),
		"tools/call_frequency": number(3.0 / 5), "tools/failure_frequency": number(1.0 / 3),
		"rewards/format/mean": number(1), "rewards/format/std": number(0), "rewards/schema/mean": number(2.0 / 5), "rewards/schema/std": number(0.5477225575051661),
		"rewards/completion/mean": number(1.0 / 5), "rewards/completion/std": number(0.4472135954999579), "rewards/length/mean": number(1), "rewards/length/std": number(0),
		"kl": nil, "clip_ratio/low_mean": nil, "clip_ratio/high_mean": nil, "clip_ratio/region_mean": nil, "loss": nil,
		"failures/serving": number(1), "failures/harness": number(0), "failures/infrastructure": number(0),
	}
	for name, value := range want {
		if diff := cmp.Diff(value, got[name], tolerance()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A scorer gives the same answer to the same request, whoever else is asking.
func TestScorerIsDeterministicAndShared(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	var completions []string
	for i := range 50 {
		completions = append(completions, text(call(fmt.Sprintf(`{"a":1,"b":%d}`, i%5))))
	}
	r := request(t, oneCall, completions...)
	answers := make([]string, 8)
	var running sync.WaitGroup
	for i := range answers {
		running.Go(func() {
			response, err := s.Score(t.Context(), r)
			if err != nil {
				t.Error(err)
			}
			encoded, err := json.Marshal(response)
			if err != nil {
				t.Error(err)
			}
			answers[i] = string(encoded)
		})
	}
	running.Wait()
	for i := range answers {
		if answers[i] != answers[0] {
			t.Errorf("answer %d differs: %s", i, cmp.Diff(answers[0], answers[i]))
		}
	}
}

// Tool results that carry the call's id are found by it, in any order.
func TestResultsAreFoundByID(t *testing.T) {
	played := solution(t)
	first, second := played.Steps[0], played.Steps[1]
	calls := fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":%q,"arguments":%q}},{"id":"y","type":"function","function":{"name":%q,"arguments":%q}}]}`,
		first.Call.Name, first.Call.Arguments, second.Call.Name, second.Call.Arguments)
	result := func(id string, content json.RawMessage) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, content))
	}
	swapped := grpo.Completion{Messages: []json.RawMessage{json.RawMessage(calls), result("y", second.Result.Content), result("x", first.Result.Content)}}
	wrong := grpo.Completion{Messages: []json.RawMessage{json.RawMessage(calls), result("x", second.Result.Content), result("y", first.Result.Content)}}
	got := playedScore(t, taskID, swapped, wrong)
	for i, c := range got.Completions {
		if mismatched := len(c.Defects) == 1 && c.Defects[0] == grpo.DefectResultMismatch; mismatched != (i == 1) {
			t.Errorf("completion %d: defects %v", i, c.Defects)
		}
	}
}
