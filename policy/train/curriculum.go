package train

import "math/rand/v2"

// curriculum chooses what the next task is about. Its rates are kept by the
// trainer, so that they travel in checkpoints.
type curriculum interface {
	// pick chooses the level of a group of episodes, by its index.
	pick(update int, rates []float64, rng *rand.Rand) int
}

// published is the documented order: a level at a time, ten updates each.
type published struct{}

func (published) pick(update int, _ []float64, _ *rand.Rand) int {
	return [...]int{0, 0, 0, 1, 1, 2}[update/10]
}

// mastery mixes all levels by how often they still fail.
type mastery struct{}

// least is the share of a level that never fails, as a failure rate.
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
	return len(rates) - 1 // rounding left a crumb
}

func newCurriculum(name string) curriculum {
	if name == Published {
		return published{}
	}
	return mastery{}
}

// memory is the weight of the past in a level's success rate.
const memory = 0.8

// observe takes the success of a batch's episodes into the levels' rates.
func observe(rates []float64, success []*float64) {
	for i, s := range success {
		if s != nil {
			rates[i] = memory*rates[i] + (1-memory)**s
		}
	}
}
