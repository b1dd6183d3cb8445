package grpo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/tools"
)

func TestScoreRefuses(t *testing.T) {
	group := func(s string) string { return `{"groups":[{"id":"g",` + s + `}]}` }
	withTools := `"tools":` + declared + `,"expected":` + oneCall
	completions := func(s string) string { return group(withTools + `,"completions":[` + s + `]`) }
	tests := []struct{ name, body, where string }{
		{"no task", group(`"completions":[]`), "/groups/0"},
		{"two tasks", group(`"task_id":"arithmetic/0/1",` + withTools), "/groups/0/task_id"},
		{"an unknown task", group(`"task_id":"arithmetic/0/1"`), "/groups/0/task_id"},
		{"an expected call to nobody", group(`"tools":` + declared + `,"expected":{"calls":[{"name":"x"}]}`), "/groups/0/expected/calls/0/name"},
		{"a tool twice", group(`"tools":` + strings.Replace(declared, `"name":"list"`, `"name":"add"`, 1) + `,"expected":` + oneCall), "/groups/0/tools/1"},
		{"no completion", completions(`{}`), "/groups/0/completions/0"},
		{"two completions in one", completions(`{"text":"","messages":[]}`), "/groups/0/completions/0"},
		{"no message of the assistant", completions(`{"messages":[{"role":"user","content":"x"}]}`), "/groups/0/completions/0/messages"},
		{"a message that is no object", completions(`{"messages":[7]}`), "/groups/0/completions/0/messages/0"},
		{"an unknown family", completions(`{"text":"","family":"latin"}`), "/groups/0/completions/0/family"},
		{"negative tokens", completions(`{"text":"","tokens":-1}`), "/groups/0/completions/0/tokens"},
		{"logprobs of other lengths", completions(`{"text":"","logprobs":[-1,-2],"old_logprobs":[-1]}`), "/groups/0/completions/0/old_logprobs"},
		{"a mask alone", completions(`{"text":"","mask":[1]}`), "/groups/0/completions/0/mask"},
		{"a mask of twos", completions(`{"text":"","logprobs":[-1],"mask":[2]}`), "/groups/0/completions/0/mask"},
		{"an unknown normalization", `{"normalization":"mean","groups":[]}`, "/normalization"},
		{"an unknown aggregation", `{"aggregation":"sum","groups":[]}`, "/aggregation"},
		{"an unknown loss", `{"loss":{"type":"ppo"},"groups":[]}`, "/loss/type"},
		{"a rubric that pays for nothing known", `{"rubric":{"criteria":{"speed":{"weight":1}}},"groups":[]}`, "/rubric/criteria/speed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Score(t.Context(), decode(t, test.body))
			var mistake *tools.Error
			if !errors.As(err, &mistake) || mistake.Where != test.where || mistake.Message == "" {
				t.Errorf("error %v, want one at %s", err, test.where)
			}
		})
	}
}

func TestEmptyRequests(t *testing.T) {
	tests := []struct{ name, body string }{
		{"no groups", `{"groups":[]}`},
		{"an empty group", `{"groups":[{"id":"g","tools":` + declared + `,"expected":` + oneCall + `,"completions":[]}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := score(t, decode(t, test.body))
			for name, value := range got.Metrics {
				if value != nil && !strings.HasPrefix(name, "failures/") {
					t.Errorf("%s is %v without any completion", name, *value)
				}
			}
		})
	}
}

// Two completions with rewards 5.45 and 2.45, so that the advantages by none
// are ±1.5; the ratios are 2 and 1/2, clipped to 1.2 and 0.8.
func TestLossOfScoredGroups(t *testing.T) {
	const body = `{"normalization":"none","loss":{"type":"bnpo","beta":0},"groups":[{"id":"g","tools":%s,"expected":%s,"completions":[
		{"text":%q,"logprobs":[-1],"old_logprobs":[-1.6931471805599454],"ref_logprobs":[-1]},
		{"text":%q,"logprobs":[-1,-9],"old_logprobs":[-0.3068528194400547,0],"ref_logprobs":[-2,-9],"mask":[1,0]}]}]}`
	got := score(t, decode(t, fmt.Sprintf(body, declared, oneCall, `<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>`, `<tool_call>{"name":"list","arguments":{}}</tool_call>`)))
	want := map[string]float64{
		grpo.MetricLoss: (-1.2*1.5 + 0.8*1.5) / 2, grpo.MetricKL: (0 + 0.36787944117144233) / 2, // k3 of d = 0 and d = 1
		grpo.MetricClipLow: 0.5, grpo.MetricClipHigh: 0.5, grpo.MetricClipRegion: 1, grpo.MetricMeanLength: 1, grpo.MetricReward: 3.95,
	}
	for name, value := range want {
		if m := got.Metrics[name]; m == nil || !cmp.Equal(*m, value, tolerance()) {
			t.Errorf("%s is %v, want %v", name, show(m), value)
		}
	}
}

func TestWithoutLogProbsNothingIsGuessed(t *testing.T) {
	got := score(t, request(t, oneCall, text("x"), `{"text":"y","logprobs":[-1],"old_logprobs":[-1],"ref_logprobs":[-1]}`))
	for _, name := range []string{grpo.MetricLoss, grpo.MetricKL, grpo.MetricClipLow, grpo.MetricClipHigh, grpo.MetricClipRegion, grpo.MetricMeanLength} {
		if value, ok := got.Metrics[name]; !ok || value != nil {
			t.Errorf("%s is %v (there: %v), want null", name, show(value), ok)
		}
	}
}

// By hand: format is 1, 1, 0 and completion 1, 0, 0, in weights 1 and 3.
func TestNormalizeThenSum(t *testing.T) {
	r := request(t, oneCall, text(call(`{"a":1,"b":2}`)), text(call(`{"a":1,"b":3}`)), text(call(`{`)))
	r.Aggregation = "normalize_then_sum"
	r.Rubric = &grpo.Rubric{Criteria: map[string]grpo.Criterion{"format": {Weight: 1}, "completion": {Weight: 3}}}
	const std = 0.5773502691896257 + 1e-4
	want := []float64{(1.0/3 + 3*2.0/3) / std, (1.0/3 - 3*1.0/3) / std, (-2.0/3 - 3*1.0/3) / std}
	for i, c := range score(t, r).Groups[0].Completions {
		if !cmp.Equal(c.Advantage, want[i], tolerance()) {
			t.Errorf("advantage %d is %v, want %v", i, c.Advantage, want[i])
		}
	}
}

func TestResponseJSON(t *testing.T) {
	got := score(t, request(t, oneCall, text(call(`{"a":1,"b":2}`)), `{"messages":[{"role":"assistant","content":"","eval_count":4}]}`))
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`{"groups":[{"id":"g","size":2,"valid":1,"mean":5.45,"std":null,"zero_std":false,"completions":[{"reward":5.45,"valid":true,"failure":null,"advantage":0,"success":true,` +
			`"criteria":{"format":{"value":1,"weight":1,"reward":1},"schema":{"value":1,"weight":1.5,"reward":1.5},"completion":{"value":1,"weight":3,"reward":3},"length":{"value":1,"weight":-0.05,"reward":-0.05},`,
		`"turn":0,"verdict":"right","expected":0}],"defects":[],"tier":"strict"}`,
		`{"reward":null,"valid":false,"failure":{"kind":"serving",`,
		`"format":{"value":null,"weight":1,"reward":null,"error":"not scored: serving failure"}`,
		`"metrics":{"clip_ratio/high_mean":null,`,
	} {
		if !strings.Contains(string(encoded), part) {
			t.Errorf("%s\nis not in\n%s", part, encoded)
		}
	}
	var again grpo.Response
	if err := json.Unmarshal(encoded, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Groups[0].Completions[0].Criteria, again.Groups[0].Completions[0].Criteria); diff != "" {
		t.Error(diff)
	}
}
