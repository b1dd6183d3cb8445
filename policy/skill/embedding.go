package skill

import (
	"hash/fnv"
	"math"

	"toolgym/tools"
)

// normalise scales a vector to length 1; a zero vector stays what it is.
func normalise(v []float64) []float64 {
	length := math.Sqrt(dot(v, v))
	if length == 0 {
		return v
	}
	for i := range v {
		v[i] /= length
	}
	return v
}

// dot is the cosine similarity of vectors of length 1. The conversion keeps
// machines that could fuse product and sum from rounding differently.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// documentedEmbedding is the published one: the hashes of the agent's cell and
// of the first five actions, and the two flags, normalised. The published hash
// is another in every process; this one is FNV-1a with 64 bits.
func documentedEmbedding(at Offset, key, open bool, actions []tools.Call) []float64 {
	v := make([]float64, EmbeddingSize)
	v[0], v[1], v[2] = hashed(cell(at)), number(key), number(open)
	for i, action := range actions[:min(len(actions), EmbeddingSize-3)] {
		v[3+i] = hashed(action.Name)
	}
	return normalise(v)
}

func hashed(text string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return float64(h.Sum64()%1000) / 1000
}

func number(flag bool) float64 {
	if flag {
		return 1
	}
	return 0
}

// near is the distance, in cells, at which a feature is 1.
const near = 4

// features is the sound embedding: where the next target lies, the flags, and
// whether the straight ways to it are barred. A skill that leads somewhere
// without a target has its own end in the target's place, and no flags.
//
//	0, 1  the target's offset in cells / 4
//	2, 3  has_key, door_open
//	4     1 for a target, 0 for a mere way
//	5     √(1 + d²), d the distance to it in cells / 4
//	6, 7  1 where the next cell towards it is barred, along x and along y
func features(v *view, to Offset, target bool) []float64 {
	f := make([]float64, EmbeddingSize)
	f[0], f[1] = float64(to[0])/near, float64(to[1])/near
	f[5] = math.Hypot(1, float64(abs(to[0])+abs(to[1]))/near) // never 0, so that no vector is
	if target {
		f[2], f[3], f[4] = number(v.key), number(v.open), 1
	}
	f[6] = number(to[0] != 0 && !v.free(v.agent.plus(Offset{sign(to[0]), 0})))
	f[7] = number(to[1] != 0 && !v.free(v.agent.plus(Offset{0, sign(to[1])})))
	return normalise(f)
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int { return max(-1, min(1, n)) }

// shapeEmbedding counts what stands in an expression, so that alike tasks are
// near each other.
func shapeEmbedding(shape string) []float64 {
	f := make([]float64, EmbeddingSize)
	f[7] = 1
	for _, r := range shape {
		switch r {
		case '*', '+', '-', '(':
			f[map[rune]int{'*': 0, '+': 1, '-': 2, '(': 3}[r]]++
		case '#':
			f[4]++
		case ')':
		default:
			f[5]++
		}
	}
	f[6] = hashed(shape)
	return normalise(f)
}
