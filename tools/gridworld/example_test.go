package gridworld_test

import (
	"context"
	"fmt"

	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// The oracle plays the documented task.
func ExampleSpec() {
	spec := gridworld.Spec()
	task, err := spec.Task(tools.Sound, "0", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	trajectory, err := tools.Rollout(context.Background(), spec.New(), task, spec.Oracle)
	fmt.Printf("%s success %t, return %.2f, %d steps (optimal %d), %v\n", task.ID, trajectory.Success, trajectory.Return, len(trajectory.Steps), task.Optimal, err)
	// Output:
	// gridworld/0/0 success true, return 12.30, 10 steps (optimal 10), <nil>
}
