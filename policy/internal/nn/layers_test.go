package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toolgym/policy/internal/blas"
)

func TestPick(t *testing.T) {
	cases := map[string]struct {
		weights []float64
		u       float64
		want    int
	}{
		"first":                        {[]float64{1, 2, 1}, 0, 0},
		"up to the first's share":      {[]float64{1, 2, 1}, 0.249, 0},
		"from there on the second":     {[]float64{1, 2, 1}, 0.25, 1},
		"last":                         {[]float64{1, 2, 1}, 0.99, 2},
		"what is impossible is passed": {[]float64{0, 1, 0}, 0, 1},
		"a crumb left by rounding":     {[]float64{1, 1, 0}, 1, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := pick(c.weights, c.u); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestLogProbsOfExtremeLogits(t *testing.T) {
	logits := []float64{1000, 0, -1000, 3, 3, 3}
	p, rows := make([]float64, 6), NewRows[float64](2, 1)
	LogProbs(blas.Portable[float64]{}, logits, 3, []int{1, 2}, p, rows)
	if rows[0][0] != -1000 || math.Abs(rows[1][0]+math.Log(3)) > 1e-12 || math.Abs(p[5]-1.0/3) > 1e-12 || p[0] != 1 {
		t.Errorf("got %v, %v", rows, p)
	}
}

func TestSampleIsReproducible(t *testing.T) {
	draw := func() []int {
		logits, weights, tokens := make([]float64, 60), make([]float64, 60), make([]int, 10)
		Sample(blas.Portable[float64]{}, logits, 6, rand.New(rand.NewPCG(1, 2)), weights, tokens)
		return tokens
	}
	if a, b := draw(), draw(); !slices.Equal(a, b) {
		t.Errorf("%v and %v from one seed", a, b)
	}
}

func TestBagLeavesPaddingOut(t *testing.T) {
	table := []float64{1, 2, 3} // three rows of one value
	cases := map[string]struct {
		shared bool
		tokens []int
		want   []float64
	}{
		"own":                  {false, []int{0, 1, 2, -1}, []float64{1.5, 3}},
		"order does not count": {false, []int{1, 0, -1, 2}, []float64{1.5, 3}},
		"shared":               {true, []int{0, 1, 2, -1}, []float64{2.25, 2.25}},
		"nothing":              {false, []int{-1, -1}, []float64{0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := make([]float64, len(c.tokens)/2)
			EmbeddingBag[float64]{Width: 2, Dim: 1, Shared: c.shared}.Apply(blas.Portable[float64]{}, table, c.tokens, got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
