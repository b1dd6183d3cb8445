package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"toolgym/grpo/eval/stats"
)

// near reports whether two intervals differ by at most tolerance at each end.
func near(got, want [2]float64, tolerance float64) bool {
	return math.Abs(got[0]-want[0]) <= tolerance && math.Abs(got[1]-want[1]) <= tolerance
}

// The first four stand in R. G. Newcombe, Statistics in Medicine 17 (1998),
// table I, method 3; 29 of 29 is the complement of its 0 of 29.
func TestWilson(t *testing.T) {
	tests := []struct {
		name      string
		passed, n int
		want      [2]float64
	}{
		{"81 of 263", 81, 263, [2]float64{0.2553, 0.3662}},
		{"15 of 148", 15, 148, [2]float64{0.0624, 0.1605}},
		{"0 of 20", 0, 20, [2]float64{0, 0.1611}},
		{"1 of 29", 1, 29, [2]float64{0.0061, 0.1718}},
		{"29 of 29", 29, 29, [2]float64{0.8830, 1}},
		{"nothing known", 0, 0, [2]float64{0, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := stats.Wilson(test.passed, test.n); !near(got, test.want, 5e-5) {
				t.Errorf("got %.4f, want %.4f", got, test.want)
			}
		})
	}
}

func TestWilsonIsSymmetricAndHasWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		passed := rapid.IntRange(0, n).Draw(t, "passed")
		got, mirrored := stats.Wilson(passed, n), stats.Wilson(n-passed, n)
		p := float64(passed) / float64(n)
		if got[0] < 0 || got[1] > 1 || got[0] >= got[1] || p < got[0] || p > got[1] {
			t.Fatalf("%v for %d of %d", got, passed, n)
		}
		if !near(got, [2]float64{1 - mirrored[1], 1 - mirrored[0]}, 1e-12) {
			t.Fatalf("%v is not the mirror of %v", got, mirrored)
		}
	})
}

// tasks makes counts with one trial each, the first passed ones passing.
func tasks(passed, n int) []stats.Count {
	counts := make([]stats.Count, n)
	for i := range counts {
		counts[i].Scored = 1
		if i < passed {
			counts[i].Passed = 1
		}
	}
	return counts
}

// With one trial a task the number of passed tasks in a resample is binomial.
// The quantiles below are those of the binomial distribution itself: for 6 of
// 20, P(X ≤ 1) = 0.0076, P(X ≤ 2) = 0.0355, P(X ≤ 9) = 0.9520 and P(X ≤ 10) =
// 0.9829, so that the interval is 2/20 to 10/20; of two tasks with one passed,
// all outcomes have at least probability 1/4.
func TestBootstrapIsTheBinomialWithOneTrialATask(t *testing.T) {
	tests := []struct {
		name  string
		tasks []stats.Count
		want  [2]float64
	}{
		{"6 of 20", tasks(6, 20), [2]float64{0.10, 0.50}},
		{"1 of 2", tasks(1, 2), [2]float64{0, 1}},
		{"clusters of 4 are drawn whole", []stats.Count{{4, 4}, {0, 4}}, [2]float64{0, 1}},
		{"all passed: Wilson", tasks(20, 20), [2]float64{0.8389, 1}},
		{"none passed, 3 trials each: Wilson over tasks", []stats.Count{{0, 3}, {0, 3}, {0, 2}}, [2]float64{0, 0.5615}},
		{"nothing scored", []stats.Count{{0, 0}}, [2]float64{0, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := stats.Bootstrap(test.tasks, rand.NewPCG(1, 2))
			if !near(got, test.want, 1e-4) {
				t.Errorf("got %.4f, want %.4f", got, test.want)
			}
			if again := stats.Bootstrap(test.tasks, rand.NewPCG(1, 2)); again != got {
				t.Errorf("the same seed gave %v and %v", got, again)
			}
		})
	}
}

func TestBootstrapHoldsTheShareAndHasWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum stats.Count
		counts := make([]stats.Count, rapid.IntRange(1, 12).Draw(t, "tasks"))
		for i := range counts {
			scored := rapid.IntRange(1, 5).Draw(t, "scored")
			counts[i] = stats.Count{Passed: rapid.IntRange(0, scored).Draw(t, "passed"), Scored: scored}
			sum.Passed += counts[i].Passed
			sum.Scored += counts[i].Scored
		}
		share := float64(sum.Passed) / float64(sum.Scored)
		got := stats.Bootstrap(counts, rand.NewPCG(1, 2))
		if got[0] < 0 || got[1] > 1 || got[0] >= got[1] || share < got[0]-1e-9 || share > got[1]+1e-9 {
			t.Fatalf("interval %v of share %v", got, share)
		}
	})
}

// The mean of n independent differences has standard error sd/√n; with 400 of
// them the percentile interval must come close to mean ± 1.96 standard errors.
func TestBootstrapMeanAgreesWithTheNormalApproximation(t *testing.T) {
	differences := make([]float64, 400)
	for i := range differences {
		switch {
		case i < 120:
			differences[i] = 1
		case i < 160:
			differences[i] = -1
		}
	}
	mean, half := 0.2, 1.96*math.Sqrt((160.0/400-0.04)/400)
	got := stats.BootstrapMean(differences, rand.NewPCG(7, 7))
	if !near(got, [2]float64{mean - half, mean + half}, 0.004) {
		t.Errorf("got %v, want about %v to %v", got, mean-half, mean+half)
	}
}

// u is Wilson's upper end for 0 of n, 3.8415/(n+3.8415): 0.2775 for n = 10.
func TestBootstrapMeanOfEqualDifferencesHasWidth(t *testing.T) {
	tests := []struct {
		name  string
		value float64
		want  [2]float64
	}{
		{"no difference anywhere", 0, [2]float64{-0.2775, 0.2775}},
		{"better everywhere", 1, [2]float64{1 - 0.5551, 1}},
		{"worse everywhere", -1, [2]float64{-1, -1 + 0.5551}},
		{"half everywhere", 0.5, [2]float64{0.5 - 0.4163, 0.5 + 0.1388}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			differences := make([]float64, 10)
			for i := range differences {
				differences[i] = test.value
			}
			if got := stats.BootstrapMean(differences, rand.NewPCG(1, 1)); !near(got, test.want, 1e-4) {
				t.Errorf("got %.4f, want %.4f", got, test.want)
			}
		})
	}
	if got := stats.BootstrapMean(nil, rand.NewPCG(1, 1)); got != [2]float64{-1, 1} {
		t.Errorf("without tasks: %v", got)
	}
}
