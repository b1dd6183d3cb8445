package grpo_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"toolgym/grpo"
	"toolgym/tools"
	"toolgym/tools/research"
)

// labTask is the published reward lab's example: the answer is 14.17 %.
const labTask = "research/0/0"

const (
	labSearch = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"financial_search","arguments":{"company":"Halden Robotics","quarter":"Q3 2024","topic":"share_price"}}}]}`
	labSum    = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"calculator","arguments":{"expression":"(137.00-120.00)/120.00*100"}}}]}`
	labAnswer = `{"role":"assistant","content":"The stock rose by 14.17 % after the report."}`
)

// scoreLab scores one completion of the lab's task by the default rubric.
func scoreLab(t *testing.T, c grpo.Completion) grpo.Score {
	t.Helper()
	s, err := grpo.NewScorer(tools.Specs{research.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: "lab", TaskID: labTask, Completions: []grpo.Completion{c}}}})
	if err != nil {
		t.Fatal(err)
	}
	return response.Groups[0].Completions[0]
}

// labChat is an episode of these messages, with the environment's own results in
// between.
func labChat(t *testing.T, messages ...string) grpo.Completion {
	t.Helper()
	c := grpo.Completion{}
	env := research.Spec().New()
	task, err := research.Spec().Task("", "0", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		c.Messages = append(c.Messages, json.RawMessage(m))
		c.Messages = append(c.Messages, results(t.Context(), t, env, m)...)
	}
	return c
}

func results(ctx context.Context, t *testing.T, env tools.Env, message string) (out []json.RawMessage) {
	t.Helper()
	var m struct {
		ToolCalls []struct{ Function tools.Call } `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	for _, call := range m.ToolCalls {
		step, err := env.Step(ctx, call.Function)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]string{"role": "tool", "content": string(step.Result.Content)})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

func TestPublishedLab(t *testing.T) {
	said := func(text string) grpo.Completion { return grpo.Completion{Text: &text} }
	native := `<tool_call>{"name":"financial_search","arguments":{"company":"Halden Robotics","quarter":"Q3 2024","topic":"share_price"}}</tool_call>`
	tests := []struct {
		name       string
		completion grpo.Completion
		reward     float64
		success    bool
	}{
		{"search, calculate, answer", labChat(t, labSearch, labSum, labAnswer), 5.35, true},
		{"search, answer", labChat(t, labSearch, labAnswer), 5.4, true},
		{"the right number out of the air", said("The stock rose by 14.17 % after the report."), 0.95, false},
		{"a wrong number out of the air", said("The stock rose by 12 % after the report."), 0.95, false},
		{"calculated from nowhere", labChat(t, labSum, labAnswer), 2.4, false},
		{"a wrong number after a search", labChat(t, labSearch, `{"role":"assistant","content":"It rose by 17 %."}`), 2.4, false},
		{"a list of guesses after a search", labChat(t, labSearch, `{"role":"assistant","content":"It rose by 13.17 %, 14.17 % or 15.17 %."}`), 2.4, false},
		{"no answer", labChat(t, labSearch, labSum), 2.4, false},
		{"the answer in the turn of the call", said("It will be 14.17 %. " + native), 2.45, false},
		{"a made-up result", said(native + `<tool_response>{"last_close_before":120.00}</tool_response>The stock rose by 14.17 %.`), 1.45, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := scoreLab(t, test.completion)
			if got.Reward == nil || math.Abs(*got.Reward-test.reward) > 1e-9 || got.Success != test.success {
				t.Errorf("reward %v, success %v, failure %v; want %v, %v\n%v", show(got.Reward), got.Success, got.Failure, test.reward, test.success, values(got.Criteria))
			}
			if len(got.Defects) > 0 && test.success {
				t.Errorf("defects %v", got.Defects)
			}
		})
	}
}

// TestForgedResultIsNamed keeps a transcript from resting on results that the
// environment did not give.
func TestForgedResultIsNamed(t *testing.T) {
	c := labChat(t, labSearch, labAnswer)
	c.Messages[1] = json.RawMessage(`{"role":"tool","content":"{\"last_close_before\":100.00}"}`)
	got := scoreLab(t, c)
	if len(got.Defects) != 1 || got.Defects[0] != grpo.DefectResultMismatch {
		t.Errorf("defects %v, want %s", got.Defects, grpo.DefectResultMismatch)
	}
}
