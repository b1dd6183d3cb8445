package arithmetic_test

import (
	"fmt"
	"testing"

	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// BenchmarkDocumentedStep reports steps per second, and those of the same rules in
// plain Python (testdata/bench/peer.py), measured just before.
func BenchmarkDocumentedStep(b *testing.B) {
	report := testkit.ReportAgainstPython(b, "testdata/bench/peer.py")
	plan := []int{arithmetic.Mul, arithmetic.Add, arithmetic.Sto, arithmetic.Rcl, arithmetic.Sub, arithmetic.Ans}
	fresh := arithmetic.NewDocumented(arithmetic.Published(2, [5]int{4, 2, 7, 3, 5}))
	m, i := fresh, 0
	b.ReportAllocs()
	for b.Loop() {
		if _, done := m.Step(plan[i]); done {
			m, i = fresh, -1
		}
		i++
	}
	report()
}

func BenchmarkSoundStep(b *testing.B) {
	p := arithmetic.Published(2, [5]int{4, 2, 7, 3, 5})
	plan := p.Plan(nil)
	fresh := arithmetic.NewSound(p)
	m, i := fresh, 0
	b.ReportAllocs()
	for b.Loop() {
		if _, done := m.Step(plan[i]); done {
			m, i = fresh, -1
		}
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// BenchmarkHasShortcut includes the draw.
func BenchmarkHasShortcut(b *testing.B) {
	for stage := range arithmetic.Stages {
		b.Run(fmt.Sprintf("stage %d", stage), func(b *testing.B) {
			b.ReportAllocs()
			r := arithmetic.Seeded(1)
			for b.Loop() {
				arithmetic.Draw(r, stage).HasShortcut()
			}
		})
	}
}

// BenchmarkCall makes a typed call, including validation and encoding.
func BenchmarkCall(b *testing.B) {
	spec := arithmetic.Spec()
	task, err := spec.Task("", "2", 1)
	if err != nil {
		b.Fatal(err)
	}
	env := spec.New()
	for name, call := range map[string]tools.Call{
		"multiply": {Name: "multiply", Arguments: []byte(`{"a":4,"b":2}`)},
		"store":    {Name: "store", Arguments: []byte(`{"value":8}`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%15 == 0 {
					if _, err := env.Reset(b.Context(), task); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := env.Step(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
