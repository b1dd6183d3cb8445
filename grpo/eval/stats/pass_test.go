package stats_test

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"toolgym/grpo/eval/stats"
)

// byHand counts, over all subsets of k trials of n of which the first c passed,
// the share with at least one passed and the share with all passed.
func byHand(n, c, k int) (some, all float64) {
	passed, subsets := uint(1)<<c-1, 0
	for chosen := range uint(1) << n {
		if bits.OnesCount(chosen) != k {
			continue
		}
		subsets++
		if chosen&passed != 0 {
			some++
		}
		if chosen&^passed == 0 {
			all++
		}
	}
	return some / float64(subsets), all / float64(subsets)
}

func TestPassAgreesWithCountingSubsets(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				some, all := byHand(n, c, k)
				if got := stats.PassAt(n, c, k); math.Abs(got-some) > 1e-12 {
					t.Errorf("pass@%d with %d of %d: got %v, want %v", k, c, n, got, some)
				}
				if got := stats.PassAll(n, c, k); math.Abs(got-all) > 1e-12 {
					t.Errorf("pass^%d with %d of %d: got %v, want %v", k, c, n, got, all)
				}
			}
		}
	}
}

// C(190,100)/C(200,100) = 100·99·…·91 / (200·199·…·191), by exact fractions.
func TestPassOfManyTrialsDoesNotOverflow(t *testing.T) {
	const want = 0.0007710260627178503
	if got := stats.PassAt(200, 10, 100); math.Abs(got-(1-want)) > 1e-12 {
		t.Errorf("pass@100 with 10 of 200: got %v", got)
	}
	if got := stats.PassAll(200, 190, 100); math.Abs(got-want) > 1e-12 {
		t.Errorf("pass^100 with 190 of 200: got %v, want %v", got, want)
	}
}

func TestPassGrowsAndShrinksWithK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(t, "n")
		c := rapid.IntRange(0, n).Draw(t, "c")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		if stats.PassAt(n, c, k) > stats.PassAt(n, c, k+1)+1e-12 || stats.PassAll(n, c, k) < stats.PassAll(n, c, k+1)-1e-12 {
			t.Fatalf("n=%d c=%d k=%d", n, c, k)
		}
		if one := float64(c) / float64(n); math.Abs(stats.PassAt(n, c, 1)-one) > 1e-12 || math.Abs(stats.PassAll(n, c, 1)-one) > 1e-12 {
			t.Fatalf("k=1 is not the rate of %d of %d", c, n)
		}
	})
}
