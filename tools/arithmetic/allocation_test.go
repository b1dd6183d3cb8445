package arithmetic_test

import (
	"testing"

	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestStepsDoNotAllocate covers the machines and all that the policy does once
// per sample.
func TestStepsDoNotAllocate(t *testing.T) {
	e := arithmetic.NewEnumerator()
	buf := make([]int, 0, arithmetic.Vocabulary)
	for _, rules := range []string{tools.Sound, tools.Documented} {
		t.Run(rules, func(t *testing.T) {
			seed := uint64(0)
			allocations := testing.AllocsPerRun(1000, func() {
				seed++
				if err := e.Start(rules, "2", seed); err != nil {
					t.Fatal(err)
				}
				buf = e.Context(buf[:0])
				e.Accidental()
				for token := range arithmetic.Vocabulary {
					e.Act(token)
				}
			})
			if allocations != 0 {
				t.Errorf("%v allocations an episode", allocations)
			}
		})
	}
}
