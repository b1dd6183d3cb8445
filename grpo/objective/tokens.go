package objective

import (
	"math"

	"toolgym/internal/refusal"
)

// Tokens are the log-probabilities of the sampled tokens of a batch of
// completions, one row each; rows may differ in length. Old are those of the
// policy that sampled (nil: the same policy, a ratio of 1), Ref those of the
// reference (nil: none). Mask has 1 for the tokens that the model wrote and 0
// for the others (nil: all 1). Advantages has one number for each row.
type Tokens struct {
	LogProbs, Old, Ref [][]float64
	Mask               [][]int
	Advantages         []float64
}

// check refuses rows of different shapes and numbers that are not finite.
func (t Tokens) check() error {
	if len(t.Advantages) != len(t.LogProbs) {
		return refusal.New("advantages", "one a completion", "%d advantages for %d completions", len(t.Advantages), len(t.LogProbs))
	}
	if err := finite(t.Advantages); err != nil {
		return err
	}
	for _, of := range []struct {
		name string
		rows [][]float64
	}{{"logprobs", t.LogProbs}, {"old_logprobs", t.Old}, {"ref_logprobs", t.Ref}} {
		if err := checkLogProbs(of.name, of.rows, t.LogProbs); err != nil {
			return err
		}
	}
	if err := sameShape("mask", t.Mask, t.LogProbs); err != nil {
		return err
	}
	for i, row := range t.Mask {
		for j, m := range row {
			if m != 0 && m != 1 {
				return refusal.New("mask", "0 or 1", "entry %d of completion %d is %d", j, i, m)
			}
		}
	}
	return nil
}

func checkLogProbs(name string, rows, shape [][]float64) error {
	if err := sameShape(name, rows, shape); err != nil {
		return err
	}
	for i, row := range rows {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return refusal.New(name, "finite numbers", "number %d of completion %d is %v", j, i, v)
			}
		}
	}
	return nil
}

func sameShape[A, B any](name string, rows [][]A, want [][]B) error {
	if rows == nil {
		return nil
	}
	if len(rows) != len(want) {
		return refusal.New(name, "one row a completion", "%d rows for %d completions", len(rows), len(want))
	}
	for i := range rows {
		if len(rows[i]) != len(want[i]) {
			return refusal.New(name, "one entry a token", "completion %d has %d entries for %d logprobs", i, len(rows[i]), len(want[i]))
		}
	}
	return nil
}

func (t Tokens) kept(i, j int) bool { return t.Mask == nil || t.Mask[i][j] == 1 }

// length is the number of tokens of row i that the mask keeps.
func (t Tokens) length(i int) int {
	if t.Mask == nil {
		return len(t.LogProbs[i])
	}
	n := 0
	for _, m := range t.Mask[i] {
		n += m
	}
	return n
}
