package network

import "toolgym/policy/internal/vector"

// Kind is an update rule.
type Kind int

// The update rules.
const (
	Documented Kind = iota // actor-critic as published: one advantage an episode, nothing masked
	Sound                  // actor-critic with a mask after the end and advantages by GAE
	Relative               // GRPO: advantages handed in, clipped ratios, KL to a reference
)

// Objective is an update rule and its numbers.
type Objective struct {
	Kind              Kind
	Value, Entropy    float64 // weights of the value loss and of the entropy
	Discount, Lambda  float64 // of GAE
	ClipLow, ClipHigh float64 // ratios within [1 − ClipLow, 1 + ClipHigh] are not clipped
	KL                float64 // weight of the KL estimate k3
}

// Episodes is what happened to a batch.
type Episodes[F vector.Float] struct {
	Actions    []int // (steps·batch)
	Lengths    []int // (batch) steps that count; not used by Documented
	Rewards    []F   // (steps·batch), of actor-critic
	Advantages []F   // (batch), of Relative
	Old        []F   // (steps·batch) log-probabilities when the actions were sampled, of Relative
	Reference  []F   // (steps·batch) log-probabilities under the reference, of Relative
}

// Figures are the numbers of a loss.
type Figures struct {
	Loss, PolicyLoss, ValueLoss float64
	Entropy                     float64 // mean over the steps that count
	Advantage                   float64 // mean absolute advantage
	KL                          float64 // mean of k3, of Relative
	ClipLow, ClipHigh           float64 // shares of the steps that count whose ratio was clipped
}
