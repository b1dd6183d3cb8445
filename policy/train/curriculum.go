package train

import "math/rand/v2"

// curriculum chooses the level of the next task. The trainer keeps its rates, which
// are part of checkpoints.
type curriculum interface {
	// pick returns the index of the level of a group of episodes.
	pick(update int, rates []float64, rng *rand.Rand) int
}

// published is the documented order: one level at a time, in units of ten updates.
type published struct{}

func (published) pick(update int, _ []float64, _ *rand.Rand) int {
	return [...]int{0, 0, 0, 1, 1, 2}[update/10]
}

// mastery mixes all levels by how often they fail.
type mastery struct{}

// least is added to failure rates, so that a level that never fails is still drawn.
const least = 0.1

func (mastery) pick(_ int, rates []float64, rng *rand.Rand) int {
	total := 0.0
	for _, success := range rates {
		total += least + 1 - success
	}
	left := rng.Float64() * total
	for i, success := range rates {
		if left -= least + 1 - success; left < 0 {
			return i
		}
	}
	return len(rates) - 1 // by rounding, left stayed positive
}

func newCurriculum(name string) curriculum {
	if name == Published {
		return published{}
	}
	return mastery{}
}

// memory is the weight of the past in the moving average of success.
const memory = 0.8

// observe updates the moving averages with the success of a batch.
func observe(rates []float64, success []*float64) {
	for i, s := range success {
		if s != nil {
			rates[i] = memory*rates[i] + (1-memory)**s
		}
	}
}
