package skill_test

import (
	"strings"
	"testing"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/envtest"
	"toolgym/tools/gridworld"
)

// schooled is a library of what the oracles do.
func schooled(t *testing.T, levels ...string) *skill.Library {
	t.Helper()
	library := skill.NewLibrary(tools.Sound)
	for _, spec := range []tools.Spec{gridworld.Spec(), arithmetic.Spec()} {
		for _, level := range levels {
			for seed := range uint64(3) {
				for _, s := range extract(t, play(t, spec, level, seed, spec.Oracle)) {
					add(t, library, s)
				}
			}
		}
	}
	return library
}

func TestContract(t *testing.T) {
	library := schooled(t, "0")
	for _, spec := range []tools.Spec{gridworld.Spec(), arithmetic.Spec()} {
		t.Run(spec.Name, func(t *testing.T) { envtest.Run(t, skill.AddTools(spec, library)) })
	}
}

func TestOfferedTools(t *testing.T) {
	library := schooled(t, "0", "1", "2")
	spec := skill.AddTools(gridworld.Spec(), library)
	set := spec.Tools("", "1")
	own := len(gridworld.Spec().Tools("", "1"))
	if len(set) != own+skill.MaxTools {
		t.Errorf("%d tools, want %d", len(set), own+skill.MaxTools)
	}
	tool, ok := set.Lookup("skill_acquire_key_right_2_up_2")
	for _, want := range []string{"pickup_key", "has_key is false", "door_open is false", "the key is at (x+2,y+2) from the agent"} {
		if !ok || !strings.Contains(tool.Description, want) {
			t.Errorf("%q is not in %q", want, tool.Description)
		}
	}
	if same := skill.AddTools(gridworld.Spec(), skill.NewLibrary(tools.Sound)); len(same.Tools("", "")) != own {
		t.Errorf("an empty library offers %v", same.Tools("", "").Names())
	}
}

// TestMacros plays the published layout by macros, and calls some that do not
// apply.
func TestMacros(t *testing.T) {
	spec := skill.AddTools(gridworld.Spec(), schooled(t, "0"))
	trajectory := play(t, spec, "0", 0, caller{"skill_open_door_right_1_up_1", "skill_acquire_key_right_2_up_2", "skill_acquire_key_right_2_up_2",
		"skill_nothing", "skill_open_door_right_1_up_1", "skill_reach_goal_right_1_up_1"})
	want := []struct {
		part   string
		failed bool
		reward float64
	}{
		{"it needs has_key to be true, and it is false", true, -0.1},
		{`"calls_made":5,"door_open":false,"has_key":true`, false, 0.6},
		{"it needs has_key to be false, and it is true", true, -0.1},
		{"unknown tool", true, -0.1},
		{`"door_open":true`, false, 1.8},
		{`"at_goal":true`, false, 9.9},
	}
	if len(trajectory.Steps) != len(want) || !trajectory.Success || !trajectory.Terminated {
		t.Fatalf("%+v", trajectory)
	}
	for i, step := range trajectory.Steps {
		off := step.Reward - want[i].reward
		if !strings.Contains(string(step.Result.Content), want[i].part) || step.Result.IsError != want[i].failed || off > 1e-9 || off < -1e-9 {
			t.Errorf("step %d: %s, reward %v; want %+v", i, step.Result.Content, step.Reward, want[i])
		}
	}
}

// TestMacrosWhereTheyDoNotApply names the place and the cell that are wrong.
func TestMacrosWhereTheyDoNotApply(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	add(t, library, walk("far", 5, turned(0)))
	key := walk("key", 2, turned(1))
	key.Gains = "has_key"
	add(t, library, key)
	short := walk("short", 2, turned(2))
	short.Path[1] = skill.Offset{1, 1}
	add(t, library, short)
	trajectory := play(t, skill.AddTools(gridworld.Spec(), library), "0", 0, caller{"skill_far", "skill_key", "skill_short"})
	for i, want := range []string{"the cell (5,0) to be free", "the key to be at (2,0)", "stopped after 2 of 2 calls: the agent is at (2,0) and should be at (1,1)"} {
		if got := trajectory.Steps[i].Result; !got.IsError || !strings.Contains(string(got.Content), want) {
			t.Errorf("step %d: %s, want %q", i, got.Content, want)
		}
	}
}
