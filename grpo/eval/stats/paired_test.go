package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toolgym/grpo/eval/stats"
)

// The values are sums of binomial coefficients over 2^n in exact fractions:
// 2·(1+10)/2^10, 2·110056/2^22, and so on; 150 against 86 is the approval table
// of A. Agresti, "Categorical Data Analysis", table 11.1.
func TestMcNemar(t *testing.T) {
	tests := []struct {
		name string
		b, c int
		want float64
	}{
		{"no discordant task", 0, 0, 1},
		{"1 against 9", 1, 9, 0.021484375},
		{"6 against 16", 6, 16, 0.052478790283203125},
		{"equal", 5, 5, 1},
		{"0 against 5", 0, 5, 0.0625},
		{"0 against 6", 0, 6, 0.03125},
		{"150 against 86", 150, 86, 3.715936139571442e-05},
		{"1000 against 1100", 1000, 1100, 0.030720707864242296},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := stats.McNemar(test.b, test.c); math.Abs(got-test.want) > 1e-9 {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if stats.McNemar(test.b, test.c) != stats.McNemar(test.c, test.b) {
				t.Error("not symmetric")
			}
		})
	}
}

// Darwin's 15 pairs of maize, in eighths of an inch. Fisher counted 863 of the
// 32,768 signings with a sum of at least 314, 1,726 on both sides ("The Design
// of Experiments", section 21).
func TestSignFlipIsFishersTestOfDarwinsMaize(t *testing.T) {
	maize := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	if got, want := stats.SignFlip(maize, nil), 1726.0/32768; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	padded := append(slices.Clone(maize), 0, 0, 0)
	if stats.SignFlip(padded, nil) != stats.SignFlip(maize, nil) {
		t.Error("differences of zero changed the exact test")
	}
}

func TestSignFlipOfNothing(t *testing.T) {
	if got := stats.SignFlip([]float64{0, 0, 0}, nil); got != 1 {
		t.Errorf("got %v, want 1", got)
	}
}

// With differences of ±1 the test by all signs is McNemar's; with many the
// drawn one must come close, 3.5 standard errors being 0.0077 at p = 0.05.
func TestSignFlipAgreesWithMcNemar(t *testing.T) {
	for _, test := range []struct {
		name      string
		b, c      int
		tolerance float64
	}{{"exact", 3, 11, 1e-12}, {"drawn", 20, 35, 0.008}, {"drawn in two chunks", 40, 60, 0.008}} {
		t.Run(test.name, func(t *testing.T) {
			d := append(slices.Repeat([]float64{-1}, test.b), slices.Repeat([]float64{1}, test.c)...)
			got, want := stats.SignFlip(d, rand.NewPCG(3, 4)), stats.McNemar(test.b, test.c)
			if math.Abs(got-want) > test.tolerance {
				t.Errorf("got %v, McNemar says %v", got, want)
			}
			if again := stats.SignFlip(d, rand.NewPCG(3, 4)); again != got {
				t.Errorf("the same seed gave %v and %v", got, again)
			}
		})
	}
}

func TestSignFlipIsNeverZeroAndKnowsNoDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 24).Draw(t, "differences")
		turned := slices.Clone(d)
		for i := range turned {
			turned[i] = -d[i]
		}
		p, q := stats.SignFlip(d, rand.NewPCG(1, 1)), stats.SignFlip(turned, rand.NewPCG(1, 1))
		if p <= 0 || p > 1 || math.Abs(p-q) > 1e-12 {
			t.Fatalf("p = %v, turned round %v", p, q)
		}
	})
}

// The first is the example of R's p.adjust(…, "holm"), worked out by hand:
// 4·0.01, 3·0.02, then held up by the maximum.
func TestHolm(t *testing.T) {
	tests := []struct {
		name    string
		p, want []float64
	}{
		{"steps", []float64{0.01, 0.02, 0.03, 0.04}, []float64{0.04, 0.06, 0.06, 0.06}},
		{"order is kept", []float64{0.04, 0.005, 0.03}, []float64{0.06, 0.015, 0.06}},
		{"at most 1", []float64{0.9, 0.6}, []float64{1, 1}},
		{"one", []float64{0.03}, []float64{0.03}},
		{"none", nil, []float64{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, stats.Holm(test.p), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHolmOnlyRaisesAndKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		adjusted := stats.Holm(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > 1 {
				t.Fatalf("%v became %v", p, adjusted)
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("%v became %v: the order is lost", p, adjusted)
				}
			}
		}
	})
}
