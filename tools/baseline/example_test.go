package baseline_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/baseline"
)

// What chance earns: the same source gives the same calls.
func ExampleRandom() {
	spec := arithmetic.Spec()
	task, err := spec.Task(tools.Sound, "0", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	var returns []float64
	for range 2 {
		trajectory, err := tools.Rollout(context.Background(), spec.New(), task, baseline.Random(rand.NewPCG(1, 2)))
		if err != nil {
			fmt.Println(err)
			return
		}
		returns = append(returns, trajectory.Return)
	}
	fmt.Println(returns[0] == returns[1])
	// Output: true
}
