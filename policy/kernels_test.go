package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"toolgym/policy/internal/blas"
	"toolgym/tools/arithmetic"
)

// TestWithoutKernels forces the plain Go arithmetic, as on a processor without
// AVX2, and trains beside a learner with the kernels.
func TestWithoutKernels(t *testing.T) {
	for _, update := range []string{UpdateDocumented, UpdateA2C, UpdateGRPO} {
		t.Run(update, func(t *testing.T) {
			fast, plain := losses(t, update, blas.Fastest()), losses(t, update, blas.Portable[float32]{})
			for i, want := range plain {
				if !(math.Abs(fast[i]-want) <= 1e-4*(1+math.Abs(want))) {
					t.Errorf("update %d: loss %v with kernels, %v without", i, fast[i], want)
				}
			}
		})
	}
}

// losses makes five updates on forced plans.
func losses(t *testing.T, update string, k blas.Arithmetic[float32]) []float64 {
	t.Helper()
	c := Default(update, PoolOrdered, arithmetic.NewEnumerator().Vocabulary())
	c.Hidden, c.Batch, c.Steps = 20, 8, 4
	net, err := NewNet(c, rand.NewPCG(5, 6))
	if err != nil {
		t.Fatal(err)
	}
	net.arithmetic = k
	l, err := NewLearner(net)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var all []float64
	for range 5 {
		b := l.NewBatch()
		for i := range b.Plans {
			b.Prompts[i] = Prompt{Context: []int{rng.IntN(10), rng.IntN(10), arithmetic.Ctx}, Stage: i % c.Stages}
			b.Advantages[i], b.Lengths[i] = rng.NormFloat64(), 1+rng.IntN(c.Steps)
			for step := range b.Plans[i] {
				b.Plans[i][step] = rng.IntN(arithmetic.Vocabulary)
			}
			b.Rewards[i][b.Lengths[i]-1] = rng.Float64()
		}
		m, err := l.Update(b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m.Loss)
	}
	return all
}
