package objective_test

import (
	"fmt"

	"toolgym/grpo/objective"
)

// Advantages of one group of four completions, one of them without a reward.
func ExampleAdvantages() {
	group := objective.Rewards{Values: []float64{1, 0, 0, 0}, Valid: []bool{true, true, true, false}}
	advantages, spreads, err := objective.Advantages([]objective.Rewards{group}, objective.NormalizeGroup)
	fmt.Printf("%.3f mean %.3f %v\n", advantages[0], *spreads[0].Mean, err)
	// Output:
	// [1.155 -0.577 -0.577 0.000] mean 0.333 <nil>
}

// The loss of one completion of two tokens.
func ExampleCompute() {
	config := objective.Default()
	loss, err := objective.Compute(objective.Tokens{
		LogProbs: [][]float64{{-0.5, -1}}, Old: [][]float64{{-0.6, -1}}, Ref: [][]float64{{-0.5, -1.2}}, Advantages: []float64{1},
	}, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.4f, KL %.4f, clipped %.2f\n", *loss.Value, loss.KL.K3, loss.Clip.Region)
	// Output:
	// loss -1.0521, KL 0.0094, clipped 0.00
}
