package skill_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// An agent explores, learns the skills of its episodes, and needs fewer decisions
// afterwards.
func ExampleAgent() {
	ctx, spec := context.Background(), gridworld.Spec()
	library := skill.NewLibrary(tools.Sound)
	explorer, err := skill.NewExplorer(skill.ExploreNovelty, rand.NewPCG(1, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := skill.NewAgent(library, explorer)
	var decisions []int
	for range 20 {
		task, err := spec.Task(tools.Sound, "0", 7)
		if err != nil {
			fmt.Println(err)
			return
		}
		trajectory, err := tools.Rollout(ctx, spec.New(), task, agent)
		if err == nil {
			err = agent.Learn(trajectory)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		decisions = append(decisions, agent.Counts().Decisions)
	}
	fmt.Println("fewer decisions:", decisions[19] < decisions[0], "skills:", library.Len() > 0)
	// Output:
	// fewer decisions: true skills: true
}

// AddTools offers skills as tools.
func ExampleAddTools() {
	spec := gridworld.Spec()
	task, err := spec.Task(tools.Sound, "0", 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	trajectory, err := tools.Rollout(context.Background(), spec.New(), task, spec.Oracle)
	if err != nil {
		fmt.Println(err)
		return
	}
	library := skill.NewLibrary(tools.Sound)
	if _, _, err := library.Learn(trajectory); err != nil {
		fmt.Println(err)
		return
	}
	extended := skill.AddTools(spec, library)
	fmt.Println(len(extended.Tools(tools.Sound, "0")) > len(spec.Tools(tools.Sound, "0")))
	// Output: true
}
