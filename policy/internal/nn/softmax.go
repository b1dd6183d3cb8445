package nn

import (
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/blas"
)

// Greedy writes the most likely token of each row of logits
// (len(tokens), vocabulary).
func Greedy[F blas.Float](logits []F, vocabulary int, tokens []int) {
	for i := range tokens {
		row := logits[i*vocabulary : (i+1)*vocabulary]
		best := 0
		for j, x := range row {
			if x > row[best] {
				best = j
			}
		}
		tokens[i] = best
	}
}

// Sample draws a token from the softmax of each row of logits
// (len(tokens), vocabulary). weights is scratch memory of the size of logits.
func Sample[F blas.Float](k blas.Arithmetic[F], logits []F, vocabulary int, rng *rand.Rand, weights []F, tokens []int) {
	for i := 0; i < len(logits); i += vocabulary {
		shift(logits[i:i+vocabulary], weights[i:])
	}
	k.Exp(weights, weights)
	for i := range tokens {
		tokens[i] = pick(weights[i*vocabulary:(i+1)*vocabulary], rng.Float64())
	}
}

// shift sets out to the row minus its maximum, so that no exponential
// overflows.
func shift[F blas.Float](row, out []F) {
	top := row[0]
	for _, x := range row[1:] {
		top = max(top, x)
	}
	for j, x := range row {
		out[j] = x - top
	}
}

// pick returns the first index at which the running sum of the weights exceeds
// the share u of their total.
func pick[F blas.Float](weights []F, u float64) int {
	var total F
	for _, w := range weights {
		total += w
	}
	left := F(u) * total
	last := 0
	for j, w := range weights {
		if w > 0 {
			last = j
		}
		if left -= w; left < 0 {
			return j
		}
	}
	return last // by rounding, left stayed positive
}

// LogProbs sets p (T·B, vocabulary) to the softmax of logits, and rows (B, T) to
// its logarithm at the actions (T·B), which are ordered by step.
func LogProbs[F blas.Float](k blas.Arithmetic[F], logits []F, vocabulary int, actions []int, p []F, rows [][]float64) {
	batch := len(rows)
	for i, action := range actions {
		row := p[i*vocabulary : (i+1)*vocabulary]
		shift(logits[i*vocabulary:(i+1)*vocabulary], row)
		rows[i%batch][i/batch] = float64(row[action])
	}
	k.Exp(p, p)
	for i := range actions {
		row := p[i*vocabulary : (i+1)*vocabulary]
		var total F
		for _, w := range row {
			total += w
		}
		b, t := i%batch, i/batch
		rows[b][t] = float64(F(rows[b][t]) - F(math.Log(float64(total))))
		scale(row, 1/total)
	}
}
