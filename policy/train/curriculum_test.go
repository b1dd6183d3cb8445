package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestMasteryMixes draws many levels: the share follows the failures, and a
// level that never fails is not forgotten.
func TestMasteryMixes(t *testing.T) {
	cases := map[string]struct{ rates, shares []float64 }{
		"at the start":    {[]float64{0, 0, 0}, []float64{1. / 3, 1. / 3, 1. / 3}},
		"one is mastered": {[]float64{1, 0, 0}, []float64{0.1 / 2.3, 1.1 / 2.3, 1.1 / 2.3}},
		"all but one":     {[]float64{1, 1, 0.5}, []float64{0.1 / 0.8, 0.1 / 0.8, 0.6 / 0.8}},
		"all":             {[]float64{1, 1, 1}, []float64{1. / 3, 1. / 3, 1. / 3}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			const draws = 20_000
			rng := rand.New(rand.NewPCG(1, 2))
			counts := make([]float64, len(c.rates))
			for range draws {
				counts[mastery{}.pick(0, c.rates, rng)]++
			}
			for i, want := range c.shares {
				if got := counts[i] / draws; math.Abs(got-want) > 0.02 {
					t.Errorf("level %d has a share of %.3f, want %.3f", i, got, want)
				}
			}
		})
	}
}

func TestPublishedOrder(t *testing.T) {
	var got [3]int
	last := 0
	for update := range 60 {
		stage := published{}.pick(update, nil, nil)
		if stage < last {
			t.Errorf("update %d goes back to stage %d", update, stage)
		}
		got[stage]++
		last = stage
	}
	if got != [3]int{30, 20, 10} {
		t.Errorf("updates by stage: %v", got)
	}
}

func TestObserve(t *testing.T) {
	one := 1.0
	rates := []float64{0.5, 0.5}
	observe(rates, []*float64{&one, nil})
	if math.Abs(rates[0]-0.6) > 1e-12 || rates[1] != 0.5 {
		t.Errorf("rates %v, want 0.6 and what was there", rates)
	}
}
