package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"toolgym/policy/internal/blas"
)

// TestUpdateGateBias moves the update gates' biases of both GRUs, and nothing else.
func TestAddUpdateGateBias(t *testing.T) {
	for name, pool := range map[string]string{"a GRU over contexts": PoolOrdered, "a mean of contexts": PoolOwn} {
		t.Run(name, func(t *testing.T) {
			p := NewParams[float64](Dims{Vocabulary: 3, Hidden: 4, Stages: 2, Pool: pool})
			p.Draw(rand.New(rand.NewPCG(1, 2)))
			before := append([]float64(nil), p.Flat...)
			p.AddUpdateGateBias(2)
			moved := 0
			for i, x := range p.Flat {
				switch x {
				case before[i]:
				case before[i] + 2:
					moved++
				default:
					t.Errorf("weight %d went from %v to %v", i, before[i], x)
				}
			}
			want := map[string]int{PoolOrdered: 8, PoolOwn: 4}[pool]
			for i := 4; i < 8; i++ {
				if p.RNN.BiasIH[i] < 1 {
					t.Errorf("gate %d is %v", i, p.RNN.BiasIH[i])
				}
			}
			if moved != want {
				t.Errorf("%d weights moved, want %d", moved, want)
			}
		})
	}
}

// TestUpdateGateBiasLasts: what stands first in a context moves the logits of an
// untrained network's last step far more with memory than without.
func TestUpdateGateBiasLasts(t *testing.T) {
	moved := func(bias float64) float64 {
		const steps = 13
		p := NewParams[float64](Dims{Vocabulary: 18, Hidden: 32, Stages: 1, Pool: PoolOrdered})
		p.Draw(rand.New(rand.NewPCG(1, 2)))
		p.AddUpdateGateBias(bias)
		f := NewForward(blas.Portable[float64]{}, p, Size{Batch: 2, Steps: steps, Context: 9})
		for i := range f.Contexts {
			f.Contexts[i] = i % 9
		}
		f.Contexts[0] = 4 // of the first sample; the second's is 0
		f.Prepare()
		f.Follow(make([]int, 2*steps))
		first, second := f.Logits[(2*steps-2)*18:(2*steps-1)*18], f.Logits[(2*steps-1)*18:]
		sum := 0.0
		for i := range first {
			sum += math.Abs(first[i] - second[i])
		}
		return sum
	}
	with, without := moved(2), moved(0)
	t.Logf("moved by %.3g with memory, by %.3g without", with, without)
	if with < 100*without {
		t.Error("memory does not last")
	}
}
