package api_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolgym/api"
	"toolgym/plugin"
	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// ways are macros that solve the published layout, the first of them too early,
// and what their results must show.
func ways() [][2]string {
	return [][2]string{
		{"skill_open_door_right_1_up_1", "it needs has_key to be true, and it is false"},
		{"skill_acquire_key_right_2_up_2", `"has_key":true`},
		{"skill_open_door_right_1_up_1", `"door_open":true`},
		{"skill_reach_goal_right_1_up_1", `"at_goal":true`},
	}
}

func TestSkillsOverMCP(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{gridworld.Spec()}, Skills: learnt(t)})
	session := connect(t, overHTTP(f, "gridworld/0/0"))
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	described := false
	for _, tool := range listed.Tools {
		described = described || tool.Name == "skill_acquire_key_right_2_up_2" && strings.Contains(tool.Description, "Preconditions: has_key is false; door_open is false; the key is at (x+2,y+2)")
	}
	if !described {
		t.Error("no macro with its preconditions in the list")
	}
	for i, way := range ways() {
		got := callMCP(t, session, way[0], nil)
		text := got.Content[0].(*mcp.TextContent).Text
		if got.IsError != (i == 0) || !strings.Contains(text, way[1]) {
			t.Errorf("%s: error %v, %s", way[0], got.IsError, text)
		}
	}
}

func TestSkillsForLangchaingo(t *testing.T) {
	spec := skill.AddTools(gridworld.Spec(), learnt(t))
	task, err := spec.Task("", "0", 0)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	offered, err := plugin.EpisodeTools(env)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range ways() {
		called := false
		for _, tool := range offered {
			if tool.Name() != way[0] {
				continue
			}
			called = true
			if got, err := tool.Call(t.Context(), "{}"); err != nil || !strings.Contains(strings.ReplaceAll(got, "\\\"", "\""), way[1]) {
				t.Errorf("%s: %s, %v", way[0], got, err)
			}
		}
		if !called {
			t.Errorf("%s is not offered", way[0])
		}
	}
	if !env.Success() {
		t.Error("the task is not solved")
	}
}
