package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// z95 is the 0.975 quantile of the standard normal distribution.
const z95 = 1.959963984540054

// draws is how often a bootstrap or a permutation test resamples.
const draws = 10_000

// A Count is how many of the scored trials of one task passed.
type Count struct{ Passed, Scored int }

// Wilson is the 95 % score interval of a proportion: passed out of n.
//
//	(p̂ + z²/2n ± z·√(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n)
//
// It never has width zero, and it stays within [0, 1]. With n = 0 nothing is
// known and it is [0, 1]. Source: E. B. Wilson, "Probable inference, the law of
// succession, and statistical inference", JASA 22 (1927).
func Wilson(passed, n int) [2]float64 {
	if n == 0 {
		return [2]float64{0, 1}
	}
	return wilson(float64(passed)/float64(n), float64(n))
}

func wilson(p, n float64) [2]float64 {
	zz := z95 * z95
	centre := (p + zz/(2*n)) / (1 + zz/n)
	half := z95 * math.Sqrt(p*(1-p)/n+zz/(4*n*n)) / (1 + zz/n)
	return [2]float64{max(0, min(p, centre-half)), min(1, max(p, centre+half))}
}

// Bootstrap is the 95 % percentile interval of the share of trials that
// passed, Σ passed / Σ scored, where the trials of one task are one cluster:
// whole tasks are drawn with replacement, 10,000 times. Where all tasks have
// the same rate the resampled shares have no spread; the interval is then
// Wilson's with one observation a task, and never of width zero. Source: A. C.
// Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997),
// sections 3.8 and 5.3.
func Bootstrap(tasks []Count, source rand.Source) [2]float64 {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t Count) bool { return t.Scored == 0 })
	if len(tasks) == 0 {
		return [2]float64{0, 1}
	}
	if !slices.ContainsFunc(tasks, func(t Count) bool { return t.Passed*tasks[0].Scored != tasks[0].Passed*t.Scored }) {
		return wilson(Sum(tasks).Rate(), float64(len(tasks)))
	}
	drawn := make([]Count, len(tasks))
	return resample(source, func(r *rand.Rand) float64 {
		for i := range drawn {
			drawn[i] = tasks[r.IntN(len(tasks))]
		}
		return Sum(drawn).Rate()
	})
}

// Rate is Passed / Scored.
func (c Count) Rate() float64 { return float64(c.Passed) / float64(c.Scored) }

// Sum adds the counts of several tasks.
func Sum(tasks []Count) Count {
	var sum Count
	for _, t := range tasks {
		sum.Passed += t.Passed
		sum.Scored += t.Scored
	}
	return sum
}

// BootstrapMean is the 95 % percentile interval of the mean of paired
// differences, one a task, each in [-1, 1]. Where all differences are the same
// d there is nothing to resample: none of n tasks departs from d, so by Wilson
// at most a share u = z²/(n+z²) does, and none by more than to -1 or to 1. The
// interval is then [d − u(d+1), d + u(1−d)].
func BootstrapMean(differences []float64, source rand.Source) [2]float64 {
	n := len(differences)
	if n == 0 {
		return [2]float64{-1, 1}
	}
	if slices.Min(differences) == slices.Max(differences) {
		d, u := differences[0], Wilson(0, n)[1]
		return [2]float64{d - u*(d+1), d + u*(1-d)}
	}
	return resample(source, func(r *rand.Rand) float64 {
		sum := 0.0
		for range n {
			sum += differences[r.IntN(n)]
		}
		return sum / float64(n)
	})
}

// resample draws a statistic and takes the 2.5 % and 97.5 % quantiles.
func resample(source rand.Source, statistic func(*rand.Rand) float64) [2]float64 {
	r := rand.New(source)
	values := make([]float64, draws)
	for i := range values {
		values[i] = statistic(r)
	}
	slices.Sort(values)
	return [2]float64{quantile(values, 0.025), quantile(values, 0.975)}
}

// quantile interpolates between the order statistics of a sorted sample
// (definition 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
// packages", 1996).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(math.Floor(at))
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
