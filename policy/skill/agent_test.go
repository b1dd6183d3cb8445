package skill_test

import (
	"math/rand/v2"
	"testing"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestSkillsWithoutAPath has a library of hand-made skills that do not say where
// they lead: the agent does not walk by them, also where it stands on the target.
func TestSkillsWithoutAPath(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	for name, gains := range map[string]string{"pickup_key": "has_key", "open_door": "door_open"} {
		s := walk(name, 1, turned(float64(len(name))))
		s.Actions[0].Name, s.Path, s.Gains = name, nil, gains
		add(t, library, s)
	}
	explorer, err := skill.NewExplorer(skill.ExploreNovelty, rand.NewPCG(1, 1))
	must(t, err)
	fetched := 0
	for seed := range uint64(20) {
		for _, step := range play(t, gridworld.Spec(), "1", seed, skill.NewAgent(library, explorer)).Steps {
			if step.Call.Name == "pickup_key" && step.Reward > 0 {
				fetched++
			}
		}
	}
	if fetched == 0 {
		t.Error("the agent stood on no key: the test means to go there")
	}
	for _, s := range library.Skills() {
		if s.TimesUsed != 0 {
			t.Errorf("%s is used %d times", s.Name, s.TimesUsed)
		}
	}
}

// TestCutOffTellsNothing lets the episode's limit end a skill in its middle: it is
// neither a success nor a failure of it.
func TestCutOffTellsNothing(t *testing.T) {
	library, spec := skill.NewLibrary(tools.Sound), gridworld.Spec()
	for _, s := range extract(t, play(t, spec, "0", 0, spec.Oracle)) {
		add(t, library, s)
	}
	env := spec.New()
	task, err := spec.Task(tools.Sound, "0", 0)
	must(t, err)
	observation, err := env.Reset(t.Context(), task)
	must(t, err)
	left := 2 // steps, of the five to the key
	for range 50 - left {
		step, err := env.Step(t.Context(), tools.Call{Name: "move_left", Arguments: []byte("{}")}) // into the edge
		must(t, err)
		if step.Done() {
			t.Fatal("the limit is reached before")
		}
	}
	explorer, err := skill.NewExplorer(skill.ExploreRandom, rand.NewPCG(1, 1))
	must(t, err)
	agent := skill.NewAgent(library, explorer)
	must(t, agent.Play(t.Context(), task, observation, env))
	if agent.Tally() != (skill.Tally{Decisions: 1, Uses: 1}) {
		t.Errorf("the episode took %+v", agent.Tally())
	}
	if stats := library.Stats(); stats.Uses != 0 {
		t.Errorf("%d uses are counted", stats.Uses)
	}
}
