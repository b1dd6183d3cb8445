package network

import (
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/vector"
)

// Greedy writes the most likely token of each row of logits.
func Greedy[F vector.Float](logits []F, vocabulary int, tokens []int) {
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

// Sample draws a token of each row of logits from its softmax. weights is
// scratch of the size of logits.
func Sample[F vector.Float](k vector.Arithmetic[F], logits []F, vocabulary int, rng *rand.Rand, weights []F, tokens []int) {
	for i := 0; i < len(logits); i += vocabulary {
		shift(logits[i:i+vocabulary], weights[i:])
	}
	k.Exp(weights, weights)
	for i := range tokens {
		tokens[i] = pick(weights[i*vocabulary:(i+1)*vocabulary], rng.Float64())
	}
}

// shift sets out to the row less its maximum, so that no exponential
// overflows, and returns the maximum.
func shift[F vector.Float](row, out []F) F {
	top := row[0]
	for _, x := range row[1:] {
		top = max(top, x)
	}
	for j, x := range row {
		out[j] = x - top
	}
	return top
}

// pick returns the index at which the weights' running sum passes the share u
// of their total.
func pick[F vector.Float](weights []F, u float64) int {
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
	return last // rounding left a crumb
}

// LogProbs sets out to the logarithm of the softmax at each row's action, and
// p to the softmax.
func LogProbs[F vector.Float](k vector.Arithmetic[F], logits []F, vocabulary int, actions []int, p, out []F) {
	for i, action := range actions {
		row := p[i*vocabulary : (i+1)*vocabulary]
		shift(logits[i*vocabulary:(i+1)*vocabulary], row)
		out[i] = row[action]
	}
	k.Exp(p, p)
	for i := range actions {
		row := p[i*vocabulary : (i+1)*vocabulary]
		var total F
		for _, w := range row {
			total += w
		}
		out[i] -= F(math.Log(float64(total)))
		scale(row, 1/total)
	}
}
