package skill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
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

// script makes calls that are written "tool arguments".
type script []string

func (s script) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, line := range s {
		name, arguments, _ := strings.Cut(line, " ")
		step, err := caller.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// find is a task of a level whose prompt asks for an expression.
func find(t *testing.T, level, expression string) tools.Task {
	t.Helper()
	for seed := range uint64(200_000) {
		task, err := arithmetic.Spec().Task("", level, seed)
		must(t, err)
		if strings.Contains(task.Prompt[0].Content, "Compute "+expression+". ") {
			return task
		}
	}
	t.Fatalf("no task asks for %s", expression)
	return tools.Task{}
}

func TestExtractMacro(t *testing.T) {
	op := func(tool string, a, b int) string { return fmt.Sprintf(`%s {"a":%d,"b":%d}`, tool, a, b) }
	tests := []struct {
		name, level, expression string
		calls                   script
		want                    string // "" for no macro
	}{
		{"plain", "0", "4*2+7", script{op("multiply", 4, 2), op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"detours and mistakes are left out", "0", "4*2+7", script{op("add", 4, 2), `fly {}`, `store {"value":7}`, op("multiply", 4, 2), `recall {"x":1}`, op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"equal numbers", "0", "1*1+1", script{op("multiply", 1, 1), op("add", 1, 1), `answer {"value":2}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"what is stored and recalled stays", "0", "4*2+7", script{op("multiply", 4, 2), `store {"value":8}`, `recall {}`, op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} store{"value":{"result":0}} recall{} add{"a":{"result":2},"b":{"operand":2}} answer{"value":{"result":3}}`},
		{"computed in the head", "0", "4*2+7", script{`answer {"value":15}`}, ""},
		{"written out", "0", "4*2+7", script{`calculator {"expression":"4*2+7"}`, `answer {"value":15}`}, ""},
		{"not solved", "0", "4*2+7", script{op("multiply", 4, 2), `answer {"value":8}`}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			trajectory, err := tools.Rollout(t.Context(), arithmetic.Spec().New(), find(t, test.level, test.expression), test.calls)
			must(t, err)
			got := ""
			for _, s := range extract(t, trajectory) {
				for i, action := range s.Actions {
					if i > 0 {
						got += " "
					}
					got += action.Name + string(action.Arguments)
				}
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestMacrosGeneralise: what was learnt on a few tasks answers all others of
// the same shape, with numbers a hundred thousand times as large too.
func TestMacrosGeneralise(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	lesson := skill.MacroExperiment{Spec: arithmetic.Spec(), Levels: []string{"0", "1", "2", "grounded"}, Episodes: 3, Further: []string{"large"}, Tasks: 60, Teacher: arithmetic.Spec().Oracle}
	must(t, lesson.Learn(t.Context(), library, func(skill.Episode) error { return nil }))
	var episodes []skill.Episode
	grades, err := lesson.Evaluate(t.Context(), library, func(e skill.Episode) error {
		episodes = append(episodes, e)
		return nil
	})
	must(t, err)
	if got := skill.Summarize(episodes); got.MedianDecisions != 1 || got.OptimumRatio != 1 || got.BaselineMedianSteps != got.MedianSteps {
		t.Errorf("%+v", got)
	}
	random := map[bool]int{}
	for _, g := range grades {
		t.Logf("%+v", g)
		if g.Agent == "macros" && (g.Solved != g.Tasks || g.Decisions != 1 || g.Calls < 3) {
			t.Errorf("%+v", g)
		}
		if g.Agent == "random" {
			random[g.Macros] += g.Solved
		}
	}
	if random[true] <= random[false] {
		t.Errorf("the random agent solved %d with macros, %d without", random[true], random[false])
	}
	if library.Len() > 6 {
		t.Errorf("%d macros for 4 levels: the same plan is not recognised", library.Len())
	}
}
