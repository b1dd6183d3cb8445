package train_test

import (
	"slices"
	"testing"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestHeldOut splits the layouts of level 1 by what the policy sees of them, in
// about the share that is asked for.
func TestHeldOut(t *testing.T) {
	const tasks = 4000
	env, shares := gridworld.Spec().Enumerate(), []float64{0, 0.1, 0.5}
	out := make([]int, len(shares))
	for seed := range uint64(tasks) {
		var prompt policy.Prompt
		if err := env.Start(tools.Sound, "1", seed); err != nil {
			t.Fatal(err)
		}
		if err := prompt.Read(env, "1"); err != nil {
			t.Fatal(err)
		}
		spare := append(slices.Grow(slices.Clone(prompt.Context), 8), 99)[:len(prompt.Context)]
		for i, share := range shares {
			held := train.Config{HoldOut: share}.HeldOut(prompt)
			if held {
				out[i]++
			}
			if (train.Config{HoldOut: share}.HeldOut(policy.Prompt{Context: spare, Stage: prompt.Stage})) != held {
				t.Fatalf("seed %d: the same prompt is held out and is not", seed)
			}
		}
		if spare[:len(spare)+1][len(spare)] != 99 {
			t.Fatal("the memory behind the context was written to")
		}
	}
	for i, share := range shares {
		if got := float64(out[i]) / tasks; got < share-0.03 || got > share+0.03 {
			t.Errorf("%.3f are held out, asked for %.1f", got, share)
		}
	}
}
