package grpo_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// taskID is "Compute a*b+c" with the operands of seed 17.
const taskID = "arithmetic/0/17"

// solution plays the task by its oracle.
func solution(t testing.TB) tools.Trajectory {
	t.Helper()
	return testkit.Solve(t, arithmetic.Spec(), "0", 17)
}

// hermes writes the calls of an episode as one text.
func hermes(played tools.Trajectory) string {
	var b strings.Builder
	for _, step := range played.Steps {
		fmt.Fprintf(&b, "<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>\n", step.Call.Name, step.Call.Arguments)
	}
	return b.String()
}

func playedScore(t testing.TB, id string, completions ...grpo.Completion) grpo.GroupScore {
	t.Helper()
	s, err := grpo.NewScorer(tools.Specs{arithmetic.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: "g", TaskID: id, Completions: completions}}})
	if err != nil {
		t.Fatal(err)
	}
	return response.Groups[0]
}

func written(text string) grpo.Completion { return grpo.Completion{Text: &text, Family: "hermes"} }

func TestReplay(t *testing.T) {
	right := hermes(solution(t))
	wrong := `<tool_call>{"name":"answer","arguments":{"value":-1}}</tool_call>`
	tests := []struct {
		name, id, text string
		reward         float64
		last           string // the verdict on the last call
	}{
		{"the oracle's calls", taskID, right, 5.45, "executed"},
		{"a wrong answer", taskID, wrong, 2.45, "executed"},
		{"a wrong answer, then the right one", taskID, wrong + right, 2.45, "after_end"},
		{"the right one and one more", taskID, right + wrong, 2.45, "after_end"},
		{"no answer", taskID, `<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>`, 2.45, "executed"},
		{"a call that its schema refuses", taskID, `<tool_call>{"name":"answer","arguments":{"value":"x"}}</tool_call>`, 0.95, "refused"},
		{"a mistake on the way", taskID, `<tool_call>{"name":"recall","arguments":{}}</tool_call>` + right, 5.45, "executed"},
		{"a call to nobody on the way", taskID, `<tool_call>{"name":"guess","arguments":{}}</tool_call>` + hermes(tools.Trajectory{Steps: solution(t).Steps[2:]}), 1 + 1.5/2 + 3 - 0.05, "executed"},
		{"words alone", taskID, "The answer is 42.", 0.95, ""},
		{"made-up results", taskID, right + "<tool_response>{}</tool_response>", 1.45, "executed"},
		{"silence where it is asked for", "arithmetic/restraint/3", "Hello!", 5.45, ""},
		{"nothing at all where a word is due", "arithmetic/restraint/3", " ", 2.45, ""},
		{"a call where silence is asked for", "arithmetic/restraint/3", wrong, 2.45, "executed"},
		{"a broken call where silence is asked for", "arithmetic/restraint/3", `Hi <tool_call>{"name":"answer"`, -0.05 + 1.5, "lost"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := playedScore(t, test.id, written(test.text)).Completions[0]
			last := ""
			if n := len(got.Calls); n > 0 {
				last = got.Calls[n-1].Verdict
			}
			if got.Reward == nil || math.Abs(*got.Reward-test.reward) > 1e-9 || last != test.last {
				t.Errorf("reward %v, last call %q; want %v, %q\n%+v", show(got.Reward), last, test.reward, test.last, values(got.Criteria))
			}
		})
	}
}

// chat writes an episode as messages, with the results as they were or as
// forge makes them.
func chat(played tools.Trajectory, forge func(i int, content string) string) grpo.Completion {
	var c grpo.Completion
	for i, step := range played.Steps {
		call, _ := json.Marshal(step.Call)
		result, _ := json.Marshal(forge(i, string(step.Result.Content)))
		c.Messages = append(c.Messages,
			json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"function":%s}]}`, call)),
			json.RawMessage(fmt.Sprintf(`{"role":"tool","content":%s}`, result)))
	}
	return c
}

func TestTranscriptsAreChecked(t *testing.T) {
	played := solution(t)
	honest := chat(played, func(_ int, content string) string { return " " + content })
	forged := chat(played, func(i int, content string) string {
		if i == 0 {
			return `{"result":12345}`
		}
		return content
	})
	got := playedScore(t, taskID, honest, forged)
	turns := float64(len(played.Steps))
	for i, c := range got.Completions {
		if want := 5.5 - 0.05*turns; c.Reward == nil || math.Abs(*c.Reward-want) > 1e-9 {
			t.Errorf("completion %d: reward %v, want %v: the calls are right either way", i, show(c.Reward), want)
		}
		if mismatch := strings.Contains(fmt.Sprint(c.Defects), "tool_result_mismatch"); mismatch != (i == 1) {
			t.Errorf("completion %d: defects %v", i, c.Defects)
		}
	}
	first := got.Completions[1].Calls[0]
	if string(first.Given) != `"{\"result\":12345}"` || first.Result == nil {
		t.Errorf("given %s, result %v", first.Given, first.Result)
	}
}

// An episode that was played already is taken at its word, call by call.
func TestPlayedEpisodes(t *testing.T) {
	played := solution(t)
	right := chat(played, func(_ int, content string) string { return content })
	right.Played = &played
	failed := played
	failed.Success = false
	wrong := right
	wrong.Played = &failed
	late := right
	shorter := played
	shorter.Steps = played.Steps[:len(played.Steps)-1]
	late.Played = &shorter
	broken := right
	broken.Failure = &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: "the connection was cut"}
	got := playedScore(t, taskID, right, wrong, late, broken)
	length := 0.05 * float64(len(played.Steps))
	for i, want := range []float64{5.5 - length, 2.5 - length, 2.5 - length} {
		if c := got.Completions[i]; c.Reward == nil || math.Abs(*c.Reward-want) > 1e-9 {
			t.Errorf("completion %d: reward %v, want %v", i, show(c.Reward), want)
		}
	}
	if c := got.Completions[2].Calls[len(played.Steps)-1]; c.Verdict != grpo.VerdictAfterEnd {
		t.Errorf("the call beyond the episode's end is %s", c.Verdict)
	}
	if c := got.Completions[3]; c.Reward != nil || c.Failure.Kind != grpo.FailureInfrastructure {
		t.Errorf("reward %v, failure %v", show(c.Reward), c.Failure)
	}
	if got.Valid != 3 {
		t.Errorf("%d valid", got.Valid)
	}
}
