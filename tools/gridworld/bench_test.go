package gridworld_test

import (
	"testing"

	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// BenchmarkSoundStep reports steps per second on the shortest path of level 0, and
// those of the same rules in plain Python (testdata/bench/peer.py), measured just
// before.
func BenchmarkSoundStep(b *testing.B) {
	report := testkit.ReportAgainstPython(b, "testdata/bench/peer.py")
	fresh := gridworld.NewWorld(gridworld.Published())
	plan := fresh.Path()
	w, i := fresh, 0
	b.ReportAllocs()
	for b.Loop() {
		if _, done := w.Step(plan[i]); done {
			w, i = fresh, -1
		}
		i++
	}
	report()
}

// BenchmarkOpen generates the layout of a task, including the search.
func BenchmarkOpen(b *testing.B) {
	for _, level := range []string{"1", "2", "3"} {
		b.Run("level "+level, func(b *testing.B) {
			b.ReportAllocs()
			for seed := uint64(0); b.Loop(); seed++ {
				if _, err := gridworld.Open(tools.Sound, level, seed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	fresh := gridworld.NewWorld(gridworld.Published())
	plan := fresh.Path()
	if allocations := testing.AllocsPerRun(1000, func() {
		w := fresh
		for _, action := range plan {
			w.Step(action)
		}
	}); allocations != 0 {
		t.Errorf("%v allocations per episode", allocations)
	}
}
