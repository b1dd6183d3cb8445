package gridworld_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// BenchmarkSoundStep reports steps a second on the shortest path of level 0,
// and those of the same rules in plain Python (testdata/bench/peer.py), timed
// right before.
func BenchmarkSoundStep(b *testing.B) {
	peer := python(b)
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
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "steps/s")
	if peer > 0 {
		b.ReportMetric(peer, "python-steps/s")
		b.ReportMetric(rate/peer, "times-python")
	}
}

// python returns the steps a second that the peer prints, or 0 where there is
// no Python.
func python(b *testing.B) float64 {
	b.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		b.Log("no python3: the peer is not timed")
		return 0
	}
	out, err := exec.CommandContext(b.Context(), path, "testdata/bench/peer.py").Output()
	if err != nil {
		b.Fatal(err)
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}

// BenchmarkOpen draws a task, proves it solvable and measures it.
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
		t.Errorf("%v allocations an episode", allocations)
	}
}
