package policy

import (
	"fmt"
	"math"

	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/policy/internal/nn"
	"toolgym/tools"
)

// The pools: how a context becomes part of the network's initial state.
const (
	PoolBatch   = nn.PoolBatch   // the mean over the whole batch, as published
	PoolOwn     = nn.PoolOwn     // the mean of the sample's own context, without order
	PoolOrdered = nn.PoolOrdered // the last state of a GRU over the context
)

// The update rules.
const (
	UpdateDocumented = nn.Documented // actor-critic as published: one advantage per episode, no mask
	UpdateA2C        = nn.A2C        // actor-critic, masked after the end, advantages by GAE
	UpdateGRPO       = nn.GRPO       // given advantages, clipped ratios, KL to the initial policy
)

// Config describes a network and how it is trained. Start from [Default].
type Config struct {
	Vocabulary tools.Vocabulary `json:"vocabulary"` // of the environment

	Pool    string `json:"pool"`    // batch, own or ordered
	Hidden  int    `json:"hidden"`  // width d of embeddings and states
	Stages  int    `json:"stages"`  // number of stages of the network, 0 to Stages−1
	Batch   int    `json:"batch"`   // episodes per update
	Steps   int    `json:"steps"`   // tokens of a plan
	Context int    `json:"context"` // tokens of the longest context

	// Memory is added to the biases of the update gates of a new network. At 0,
	// PyTorch's default, half of a state is forgotten at each step, and what was
	// read first is lost before it is needed; at 2, an eighth is forgotten
	// (Jozefowicz, Zaremba and Sutskever, 2015).
	Memory float64 `json:"memory,omitempty"`

	Update       string  `json:"update"`        // documented, a2c or grpo
	LearningRate float64 `json:"learning_rate"` // of Adam
	ValueCoef    float64 `json:"value_coef"`    // weight of the value loss
	EntropyCoef  float64 `json:"entropy_coef"`  // weight of the entropy bonus
	MaxGradNorm  float64 `json:"max_grad_norm"` // gradients are clipped to this global norm
	Discount     float64 `json:"discount"`      // γ of GAE
	Lambda       float64 `json:"lambda"`        // λ of GAE

	// GRPO is the objective of the update grpo.
	GRPO objective.Config `json:"grpo"`
	// Compare also runs the frozen initial policy, so that [Metrics] has the
	// divergence from it. It costs about a quarter of an update; grpo does it in
	// any case.
	Compare bool `json:"compare"`
}

// Default returns the published numbers with the given update and pool, for an
// environment's vocabulary: width 96, 192 episodes; plans of 6 tokens and 3 stages
// for the documented update, of 8 tokens and 5 stages for the others; contexts of
// up to 10 tokens.
func Default(update, pool string, vocabulary tools.Vocabulary) Config {
	c := Config{
		Vocabulary: vocabulary, Pool: pool, Hidden: 96, Stages: 5, Batch: 192, Steps: 8, Context: 10,
		Update: update, LearningRate: 3e-4, ValueCoef: 0.5, EntropyCoef: 0.01, MaxGradNorm: 1,
		Discount: 1, Lambda: 0.95, GRPO: objective.Default(),
	}
	if update == UpdateDocumented {
		c.Steps, c.Stages = 6, 3
	}
	return c
}

// The largest values that are valid.
const (
	maxMemory = 16
	maxHidden = 1024
	maxStages = 1024
	maxSize   = 1 << 16
	maxValues = 1 << 27 // of one layer over a batch: a learner holds about eight times as many
)

// Validate returns a [*tools.Error] that names an invalid field.
func (c Config) Validate() error {
	if err := refusal.OneOf("pool", c.Pool, PoolBatch, PoolOwn, PoolOrdered); err != nil {
		return err
	}
	if err := refusal.OneOf("update", c.Update, UpdateDocumented, UpdateA2C, UpdateGRPO); err != nil {
		return err
	}
	if err := c.Vocabulary.Validate(); err != nil {
		return refusal.Below("vocabulary/", err)
	}
	sizes := []struct {
		name       string
		value, top int
	}{
		{"hidden", c.Hidden, maxHidden}, {"stages", c.Stages, maxStages}, {"batch", c.Batch, maxSize},
		{"steps", c.Steps, maxSize}, {"context", c.Context, maxSize},
	}
	for _, s := range sizes {
		if s.value < 1 || s.value > s.top {
			return refusal.New(s.name, fmt.Sprintf("1 to %d", s.top), "%d", s.value)
		}
	}
	if int64(c.Batch)*int64(c.Steps+c.Context)*int64(c.Hidden) > maxValues {
		return refusal.New("batch", fmt.Sprintf("batch × (steps + context) × hidden of at most %d", maxValues),
			"%d episodes of %d tokens, with contexts of %d, %d wide", c.Batch, c.Steps, c.Context, c.Hidden)
	}
	numbers := []struct {
		name        string
		value, from float64
		to          float64
	}{
		{"learning_rate", c.LearningRate, 0, math.MaxFloat64}, {"value_coef", c.ValueCoef, 0, math.MaxFloat64},
		{"entropy_coef", c.EntropyCoef, 0, math.MaxFloat64}, {"max_grad_norm", c.MaxGradNorm, math.SmallestNonzeroFloat64, math.MaxFloat64},
		{"memory", c.Memory, 0, maxMemory}, {"discount", c.Discount, 0, 1}, {"lambda", c.Lambda, 0, 1},
	}
	for _, n := range numbers {
		if !(n.value >= n.from && n.value <= n.to) {
			return refusal.New(n.name, fmt.Sprintf("a number from %g to %g", n.from, n.to), "%v", n.value)
		}
	}
	return c.GRPO.Validate()
}

// dims returns the sizes of the network.
func (c Config) dims() nn.Dims {
	return nn.Dims{Vocabulary: c.Vocabulary.Size, Hidden: c.Hidden, Stages: c.Stages, Start: c.Vocabulary.Start, Pool: c.Pool}
}

func (c Config) size(batch int) nn.Size {
	return nn.Size{Batch: batch, Steps: c.Steps, Context: c.Context}
}

func (c Config) objective() nn.Objective {
	return nn.Objective{Rule: c.Update, Value: c.ValueCoef, Entropy: c.EntropyCoef, Discount: c.Discount, Lambda: c.Lambda, GRPO: c.GRPO}
}
