package update

import "toolgym/policy/internal/vector"

// Kind is an update rule.
type Kind int

// The update rules.
const (
	Documented Kind = iota // actor-critic as published: one advantage an episode, nothing masked
	Sound                  // actor-critic with a mask after the end and advantages by GAE
	Relative               // group-relative: the loss of log-probabilities is handed in
)

// Objective is an update rule and its numbers.
type Objective struct {
	Kind             Kind
	Value, Entropy   float64   // weights of the value loss and of the entropy
	Discount, Lambda float64   // of GAE, for Sound
	Surrogate        Surrogate // for Relative
}

// Surrogate is a loss of the actions' log-probabilities: a row for each
// episode, as long as the episode.
type Surrogate func(logProbs [][]float64) (Relation, error)

// Relation is what a surrogate computes: the loss, its gradient by each
// log-probability, and the figures that go with it.
type Relation struct {
	Loss              float64
	Gradient          [][]float64
	Advantage         float64 // mean absolute advantage
	KL                float64
	ClipLow, ClipHigh float64
}

// Episodes is what happened to a batch.
type Episodes[F vector.Float] struct {
	Actions []int // (steps·batch)
	Lengths []int // (batch) steps that count; not used by Documented
	Rewards []F   // (steps·batch); not used by Relative
}

// Figures are the numbers of a loss.
type Figures struct {
	Loss, PolicyLoss, ValueLoss float64
	Entropy                     float64 // mean over the steps that count
	Advantage                   float64 // mean absolute advantage
	KL                          float64 // of Relative: to the reference
	ClipLow, ClipHigh           float64 // of Relative: shares of the steps whose ratio was clipped
}
