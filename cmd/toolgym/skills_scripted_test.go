package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolgym/grpo/rollout"
	"toolgym/internal/testkit"
	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestAModelThatCallsSkills answers in Ollama's place with calls of macros, of
// which the first does not apply: the tiny models were not trained to do so.
func TestAModelThatCallsSkills(t *testing.T) {
	spec, task := schooledGridworld(t)
	script := []string{"skill_open_door_right_1_up_1", "skill_acquire_key_right_2_up_2", "skill_open_door_right_1_up_1", "skill_reach_goal_right_1_up_1"}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"name":"`+script[asked]+`"`) {
			t.Errorf("request %d does not offer %s: %v", asked, script[asked], err)
		}
		if asked == 1 && !strings.Contains(string(body), "needs has_key to be true") {
			t.Errorf("the model is not told what failed: %s", body)
		}
		answer := `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"` + script[asked] + `","arguments":{}}}]},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":9}`
		asked++
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	chat := rollout.Chat{Config: rollout.Config{URL: server.URL, Model: "scripted"}.WithDefaults()}
	transcript, err := chat.Run(t.Context(), spec.New(), task, 1)
	if err != nil || transcript.Failure != nil || !transcript.Trajectory.Success || len(transcript.Trajectory.Steps) != len(script) {
		t.Errorf("%+v, failure %+v, %v", transcript.Trajectory, transcript.Failure, err)
	}
	if text, _ := json.Marshal(transcript.Messages); !strings.Contains(string(text), "calls_made") {
		t.Errorf("the model is not told how many calls were made: %s", text)
	}
}

// schooledGridworld is the gridworld with what the oracle's way teaches, and
// the published task.
func schooledGridworld(t *testing.T) (tools.Spec, tools.Task) {
	t.Helper()
	spec := gridworld.Spec()
	solved := testkit.Solve(t, spec, "0", 0)
	library := skill.NewLibrary(tools.Sound)
	if _, _, err := library.Learn(solved); err != nil {
		t.Fatal(err)
	}
	return skill.AddTools(spec, library), solved.Task
}
