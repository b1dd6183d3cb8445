package skill_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// caller makes fixed calls, and stops at the end of the episode.
type caller []string

func (c caller) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, to tools.Caller) error {
	for _, name := range c {
		step, err := to.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage("{}")})
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// play plays a gridworld task.
func play(t *testing.T, spec tools.Spec, level string, seed uint64, agent tools.Agent) tools.Trajectory {
	t.Helper()
	task, err := spec.Task("", level, seed)
	must(t, err)
	trajectory, err := tools.Rollout(t.Context(), spec.New(), task, agent)
	must(t, err)
	return trajectory
}

func extract(t *testing.T, trajectory tools.Trajectory) map[string]skill.Skill {
	t.Helper()
	found, err := skill.Extract(trajectory)
	must(t, err)
	byName := map[string]skill.Skill{}
	for _, s := range found {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		byName[s.Name] = s
	}
	return byName
}

func calls(s skill.Skill) string {
	var list []string
	for _, action := range s.Actions {
		list = append(list, action.Name)
	}
	return strings.Join(list, " ")
}

// TestLoopsAreRemoved walks to the key with a detour, a bump into the edge, a
// useless and an unknown call.
func TestLoopsAreRemoved(t *testing.T) {
	words := "move_left fly move_up move_right look move_right move_left open_door move_left move_right move_up move_right pickup_key move_up"
	found := extract(t, play(t, gridworld.Spec(), "0", 0, caller(strings.Fields(words))))
	want := map[string]string{
		"acquire_key_right_2_up_2": "move_up move_right move_up move_right pickup_key",
		"acquire_key_right_2_up_1": "move_right move_up move_right pickup_key",
		"acquire_key_here":         "pickup_key",
		"move_up_1":                "move_up",
	}
	for name, actions := range want {
		if got := calls(found[name]); got != actions {
			t.Errorf("%s: %q, want %q", name, got, actions)
		}
	}
	key := found["acquire_key_right_2_up_2"]
	if diff := cmp.Diff(map[string]bool{"has_key": false, "door_open": false}, key.Preconditions); diff != "" || key.Gains != "has_key" {
		t.Errorf("gains %q, preconditions %s", key.Gains, diff)
	}
	if diff := cmp.Diff([]skill.Offset{{0, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 2}}, key.Path); diff != "" {
		t.Error(diff)
	}
}

func TestNothingToExtract(t *testing.T) {
	for name, agent := range map[string]tools.Agent{"no steps": caller{}, "only bumps": caller{"move_left", "move_down", "fly", "look"}} {
		t.Run(name, func(t *testing.T) {
			if found := extract(t, play(t, gridworld.Spec(), "0", 0, agent)); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
	task, err := research.Spec().Task("", "", 1)
	must(t, err)
	_, err = skill.Extract(tools.Trajectory{Task: task})
	wantCode(t, err, tools.Invalid)
}

// TestASkillThatMisleadsIsRetired gives the agent a skill whose path is a lie,
// and looks that it gets away from it.
func TestASkillThatMisleadsIsRetired(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	for seed := range uint64(30) {
		for _, s := range extract(t, play(t, gridworld.Spec(), "1", 100+seed, gridworld.Spec().Oracle)) {
			add(t, library, s)
		}
	}
	liar := walk("liar", 1, turned(0))
	liar.Path[0] = skill.Offset{2, 2}
	add(t, library, liar)
	explorer, err := skill.NewExplorer(skill.ExploreRandom, rand.NewPCG(1, 1))
	must(t, err)
	for seed := range uint64(40) {
		if trajectory := play(t, gridworld.Spec(), "1", seed, skill.NewAgent(library, explorer)); seed > 30 && !trajectory.Success {
			t.Errorf("seed %d is not solved", seed)
		}
	}
	if got, _ := library.Lookup("liar"); !got.Retired || got.TimesUsed < 3 || got.SuccessCount != 0 {
		t.Errorf("%+v", got)
	}
	if stats := library.Stats(); stats.Retired != 1 {
		t.Errorf("%+v", stats)
	}
}

// TestSightIsLimited plays level 4, where the key and the door are not named.
func TestSightIsLimited(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	explorer, err := skill.NewExplorer(skill.ExploreNovelty, rand.NewPCG(1, 1))
	must(t, err)
	for seed := range uint64(5) {
		agent := skill.NewAgent(library, explorer)
		trajectory := play(t, gridworld.Spec(), "4", seed, agent)
		if !trajectory.Terminated && !trajectory.Truncated {
			t.Errorf("seed %d: gave up after %d steps", seed, len(trajectory.Steps))
		}
		must(t, agent.Learn(trajectory))
	}
}
