package objective

import (
	"fmt"
	"math"
	"slices"

	"toolgym/internal/refusal"
)

// Normalization says what a reward's distance from its group's mean is
// divided by.
type Normalization string

// The normalizations. The names are those of requests and flags.
const (
	// NormalizeGroup divides by the group's own standard deviation
	// (DeepSeekMath, arXiv:2402.03300).
	NormalizeGroup Normalization = "group"
	// NormalizeBatch divides by the standard deviation of all valid rewards of
	// the batch (REINFORCE++-baseline, arXiv:2501.03262; "Tricks or Traps",
	// arXiv:2508.08221).
	NormalizeBatch Normalization = "batch"
	// NormalizeNone divides by nothing (Dr. GRPO, arXiv:2503.20783).
	NormalizeNone Normalization = "none"
)

const (
	// epsilonStd keeps the quotient finite; trainers use the same number.
	epsilonStd = 1e-4
	// zeroStd is the standard deviation at which a group carries no signal:
	// below it the differences are noise of rounding, and dividing would blow
	// them up.
	zeroStd = 1e-8
)

// Rewards are the rewards of one group, in the order of its completions. A
// member whose Valid is false (its reward is null) takes no part in the
// statistics. A nil Valid means that every member is valid.
type Rewards struct {
	Values []float64
	Valid  []bool
}

// Spread says how a group's valid rewards lie. Mean is nil without a valid
// member, Std (the sample standard deviation, n−1) with fewer than two.
type Spread struct {
	Size    int      `json:"size"`
	Valid   int      `json:"valid"`
	Mean    *float64 `json:"mean"`
	Std     *float64 `json:"std"`
	ZeroStd bool     `json:"zero_std"`
}

// Advantages computes the advantage of every member of every group:
//
//	group: A = (r − mean) / (std + 1e-4)
//	batch: A = (r − mean) / (std of the batch + 1e-4)
//	none:  A = r − mean
//
// mean and std are the group's, over its valid members. Invalid members, the
// members of a group with fewer than two valid ones, and those of a group
// whose std is at most 1e-8 get exactly 0. Under batch a std of the batch at
// or below 1e-8 gives zeros too; ZeroStd always speaks of the group.
//
// Rewards that are not finite, or too far apart for float64, are refused.
func Advantages(groups []Rewards, by Normalization) ([][]float64, []Spread, error) {
	switch by {
	case NormalizeGroup, NormalizeBatch, NormalizeNone:
	default:
		return nil, nil, refusal.New("normalization", "group, batch or none", "unknown normalization %q", string(by))
	}
	spreads := make([]Spread, len(groups))
	for i, g := range groups {
		if err := g.check(); err != nil {
			return nil, nil, fmt.Errorf("group %d: %w", i, err)
		}
		spreads[i] = g.spread()
		if s := spreads[i].Std; s != nil && (math.IsInf(*s, 0) || math.IsNaN(*s)) {
			return nil, nil, fmt.Errorf("group %d: %w", i, apart("the standard deviation is %v", *s))
		}
	}
	batch := 0.0
	if by == NormalizeBatch {
		batch = batchStd(groups)
		if math.IsInf(batch, 0) || math.IsNaN(batch) {
			return nil, nil, apart("the batch's standard deviation is %v", batch)
		}
	}
	advantages := make([][]float64, len(groups))
	for i, g := range groups {
		advantages[i] = g.advantages(spreads[i], by, batch)
		if err := finite(advantages[i]); err != nil {
			return nil, nil, fmt.Errorf("group %d: %w", i, err)
		}
	}
	return advantages, spreads, nil
}

func (g Rewards) advantages(s Spread, by Normalization, batch float64) []float64 {
	advantages := make([]float64, len(g.Values))
	if s.Std == nil || s.ZeroStd || (by == NormalizeBatch && batch <= zeroStd) {
		return advantages
	}
	divisor := 1.0
	switch by {
	case NormalizeGroup:
		divisor = *s.Std + epsilonStd
	case NormalizeBatch:
		divisor = batch + epsilonStd
	}
	for i, r := range g.Values {
		if g.valid(i) {
			advantages[i] = (r - *s.Mean) / divisor
		}
	}
	return advantages
}

func (g Rewards) valid(i int) bool { return g.Valid == nil || g.Valid[i] }

// Add appends a member; a nil reward makes it invalid.
func (g *Rewards) Add(reward *float64) {
	if g.Valid == nil {
		g.Valid = slices.Repeat([]bool{true}, len(g.Values))
	}
	if reward == nil {
		g.Values, g.Valid = append(g.Values, 0), append(g.Valid, false)
		return
	}
	g.Values, g.Valid = append(g.Values, *reward), append(g.Valid, true)
}

func (g Rewards) check() error {
	if g.Valid != nil && len(g.Valid) != len(g.Values) {
		return refusal.New("valid", "one entry a reward", "%d entries for %d rewards", len(g.Valid), len(g.Values))
	}
	for i, r := range g.Values {
		if g.valid(i) && (math.IsNaN(r) || math.IsInf(r, 0)) {
			return refusal.New("rewards", "finite rewards", "reward %d is %v", i, r)
		}
	}
	return nil
}

// kept returns the rewards that count. It allocates only where some do not.
func (g Rewards) kept() []float64 {
	if g.Valid == nil {
		return g.Values
	}
	var kept []float64
	for i, r := range g.Values {
		if g.Valid[i] {
			kept = append(kept, r)
		}
	}
	return kept
}

func (g Rewards) spread() Spread {
	kept := g.kept()
	s := Spread{Size: len(g.Values), Valid: len(kept)}
	if len(kept) == 0 {
		return s
	}
	mean, std := meanStd(kept)
	s.Mean = &mean
	if len(kept) > 1 {
		s.Std = &std
		s.ZeroStd = std <= zeroStd
	}
	return s
}

// batchStd is the standard deviation of all valid rewards of all groups.
func batchStd(groups []Rewards) float64 {
	var all []float64
	for _, g := range groups {
		all = append(all, g.kept()...)
	}
	_, std := meanStd(all)
	return std
}

// meanStd returns the mean and the sample standard deviation (divisor n−1) by
// two passes, with the mean's rounding error corrected in the second (Chan,
// Golub, LeVeque 1983). std is 0 for fewer than two values.
func meanStd(values []float64) (mean, std float64) {
	if len(values) == 0 {
		return 0, 0
	}
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	mean /= n
	if len(values) == 1 {
		return mean, 0
	}
	var squares, rest float64
	for _, v := range values {
		d := v - mean
		squares += d * d
		rest += d
	}
	return mean, math.Sqrt(max(0, squares-rest*rest/n) / (n - 1))
}

// finite refuses the overflow of rewards that float64 can hold but whose
// differences it cannot.
func finite(values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return apart("advantage %d is %v", i, v)
		}
	}
	return nil
}

func apart(format string, args ...any) error {
	return refusal.New("rewards", "rewards whose differences float64 can hold", format, args...)
}
