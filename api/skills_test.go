package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/internal/testkit"
	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// learnt is what the oracle's way over the published layout teaches.
func learnt(t *testing.T) *skill.Library {
	t.Helper()
	library := skill.NewLibrary(tools.Sound)
	if _, _, err := library.Learn(testkit.Solve(t, gridworld.Spec(), "0", 0)); err != nil {
		t.Fatal(err)
	}
	return library
}

// TestSkillsOverREST solves the published layout by three macros.
func TestSkillsOverREST(t *testing.T) {
	library := learnt(t)
	f := serve(t, api.Config{Specs: tools.Specs{gridworld.Spec()}, Skills: library})
	doc := readContract(t, f)
	listed := f.ask("GET", "/v1/skills", "")
	doc.check(t, "GET", "/v1/skills", listed)
	var got struct{ Skills []skill.Skill }
	if err := json.Unmarshal([]byte(listed.body), &got); err != nil || len(got.Skills) != library.Len() {
		t.Errorf("%d skills listed, %d there: %v", len(got.Skills), library.Len(), err)
	}
	if toolset := f.ask("GET", "/v1/envs/gridworld/tools?level=1", ""); !strings.Contains(toolset.body, `"skill_acquire_key_right_2_up_2"`) {
		t.Errorf("not among the tools: %s", toolset.body)
	}
	episode := f.begin("gridworld/0/0")
	total := 0.0
	for i, call := range []struct{ name, want string }{
		{"skill_reach_goal_right_1_up_1", "needs door_open to be true"},
		{"skill_acquire_key_right_2_up_2", `"has_key":true`},
		{"skill_open_door_right_1_up_1", `"door_open":true`},
		{"skill_reach_goal_right_1_up_1", `"terminated":true`},
	} {
		a := f.ask("POST", episode+"/calls", fmt.Sprintf(`{"name":%q,"arguments":{}}`, call.name))
		doc.check(t, "POST", episode+"/calls", a)
		var step struct{ Reward float64 }
		if err := json.Unmarshal([]byte(a.body), &step); err != nil || a.status != http.StatusOK || !strings.Contains(a.body, call.want) {
			t.Errorf("call %d: %d %s, want %s", i, a.status, a.body, call.want)
		}
		total += step.Reward
	}
	if math.Abs(total-12.2) > 1e-9 {
		t.Errorf("return %v, want 12.3 and a step's cost for the call that did not apply", total)
	}
}

func TestNoSkills(t *testing.T) {
	f := serve(t, api.Config{})
	got := f.ask("GET", "/v1/skills", "")
	readContract(t, f).check(t, "GET", "/v1/skills", got)
	if want := `{"skills":[],"stats":{"skills":0,"retired":0,"uses":0,"mean_success_rate":0}}`; strings.TrimSpace(got.body) != want {
		t.Errorf("%s, want %s", got.body, want)
	}
}
