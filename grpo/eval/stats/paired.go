package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// McNemar is the exact two-sided p-value of a paired comparison with one trial
// a task: b tasks passed only in the first run, c only in the second. Under
// the hypothesis of no difference each of the b+c is a fair coin:
//
//	p = min(1, 2 · Σᵢ C(b+c, i) / 2^(b+c)), i = 0 … min(b, c)
//
// Source: Q. McNemar, Psychometrika 12 (1947), in its exact form (A. Agresti,
// "Categorical Data Analysis", section 11.1).
func McNemar(b, c int) float64 {
	n, p := b+c, 0.0
	for i := range min(b, c) + 1 {
		p += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

func logChoose(n, k int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}

// exactFlips is the largest number of differences whose signs are all tried.
const exactFlips = 16

// SignFlip is the two-sided p-value of the mean of paired differences: under
// the hypothesis of no difference every difference could as well have the
// other sign. With at most 16 differences that are not zero all signs are
// tried; with more, 10,000 are drawn, and p is (1+hits)/(1+draws), which is
// never 0. Source: R. A. Fisher, "The Design of Experiments" (1935), section
// 21; B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010).
func SignFlip(differences []float64, source rand.Source) float64 {
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	observed := math.Abs(flipped(d, 0))
	extreme := func(signs uint64) bool { return math.Abs(flipped(d, signs)) >= observed-1e-9 }
	if len(d) <= exactFlips {
		hits := 0
		for signs := range uint64(1) << len(d) {
			if extreme(signs) {
				hits++
			}
		}
		return float64(hits) / float64(uint64(1)<<len(d))
	}
	r, hits := rand.New(source), 0
	for range draws {
		if math.Abs(drawSigns(d, r)) >= observed-1e-9 {
			hits++
		}
	}
	return float64(1+hits) / float64(1+draws)
}

// flipped is the sum of d with the sign of d[i] turned where bit i is set.
func flipped(d []float64, signs uint64) float64 {
	sum := 0.0
	for i, x := range d {
		if signs>>i&1 == 1 {
			x = -x
		}
		sum += x
	}
	return sum
}

// drawSigns is the sum of d with fair signs, 64 of them from each draw.
func drawSigns(d []float64, r *rand.Rand) float64 {
	sum := 0.0
	for chunk := range slices.Chunk(d, 64) {
		sum += flipped(chunk, r.Uint64())
	}
	return sum
}

// Holm adjusts the p-values of several comparisons that are looked at
// together, so that the chance of one false claim among them stays 5 %. With
// p sorted upwards, the i-th of m (from 0) becomes the maximum of (m−j)·p(j)
// over j ≤ i, at most 1. The order is kept. Source: S. Holm, Scand. J. Statist.
// 6 (1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	adjusted, highest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		highest = max(highest, float64(len(p)-rank)*p[i])
		adjusted[i] = min(1, highest)
	}
	return adjusted
}
