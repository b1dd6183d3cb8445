package arithmetic_test

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// One task of stage 0, solved by calls.
func ExampleSpec() {
	ctx, spec := context.Background(), arithmetic.Spec()
	env := spec.New()
	observation, err := env.Reset(ctx, tools.Task{Env: "arithmetic", Rules: tools.Sound, Level: "0", Seed: 17})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(observation))
	for _, call := range []tools.Call{
		{Name: "multiply", Arguments: json.RawMessage(`{"a":6,"b":7}`)},
		{Name: "multiply", Arguments: json.RawMessage(`{"a":"6","b":7}`)}, // a mistake of the agent
	} {
		step, err := env.Step(ctx, call)
		fmt.Println(string(step.Result.Content), step.Result.IsError, step.Done(), err)
	}
	// Output:
	// {"expression":"9*3+7"}
	// {"result":42} false false <nil>
	// {"error":"invalid arguments for multiply: /a: got string, want number"} true false <nil>
}

// A machine plays the tokens of a plan without JSON and without allocations.
func ExampleNewSound() {
	m := arithmetic.NewSound(arithmetic.Published(0, [5]int{4, 2, 7}))
	sum := 0.0
	for _, token := range []int{arithmetic.Mul, arithmetic.Add, arithmetic.Ans} {
		gain, done := m.Step(token)
		sum += gain
		fmt.Printf("%s %.2f %t\n", arithmetic.TokenText(token), sum, done)
	}
	// Output:
	// [MUL] 0.25 false
	// [ADD] 0.25 false
	// [ANS] 1.50 true
}
