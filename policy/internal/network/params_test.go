package network

import (
	"math/rand/v2"
	"testing"
)

// TestRemember moves the update gates' biases of both GRUs, and nothing else.
func TestRemember(t *testing.T) {
	for name, pool := range map[string]Pool{"a GRU over contexts": Ordered, "a mean of contexts": Own} {
		t.Run(name, func(t *testing.T) {
			p := NewParams[float64](Dims{Vocabulary: 3, Hidden: 4, Stages: 2, Pool: pool})
			p.Draw(rand.New(rand.NewPCG(1, 2)))
			before := append([]float64(nil), p.Flat...)
			p.Remember(2)
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
			want := map[Pool]int{Ordered: 8, Own: 4}[pool]
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
