package policy

import (
	"fmt"
	"math"

	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
	"toolgym/tools/arithmetic"
)

// The pools: how a context becomes part of the network's first state.
const (
	PoolBatch   = "batch"   // the mean over the whole batch, a defect of the published tutorial
	PoolOwn     = "own"     // the mean of the sample's own context, blind to order
	PoolOrdered = "ordered" // the last state of a GRU over the context
)

// The update rules.
const (
	UpdateDocumented = "documented" // actor-critic as published: one advantage an episode, nothing masked
	UpdateA2C        = "a2c"        // actor-critic, masked after the end, advantages by GAE
	UpdateGRPO       = "grpo"       // advantages handed in, clipped ratios, KL to the starting policy
)

// Config describes a network and how it is trained. Start from [Default].
type Config struct {
	Pool    string `json:"pool"`    // batch, own or ordered
	Hidden  int    `json:"hidden"`  // width d of embeddings and states
	Stages  int    `json:"stages"`  // number of stages the network knows, 0 to Stages−1
	Batch   int    `json:"batch"`   // episodes in an update
	Steps   int    `json:"steps"`   // tokens in a plan
	Context int    `json:"context"` // tokens in the longest context

	// Memory is added to what opens the update gates of a new network. At 0,
	// PyTorch's default, a state's half is forgotten at each step, and what was
	// read first is lost before it is needed; at 2, an eighth is (Jozefowicz,
	// Zaremba and Sutskever, 2015).
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
	// Compare runs the frozen starting policy beside the trained one, so that
	// [Metrics] can tell how far they are apart. It costs about a quarter of
	// an update; grpo does it in any case.
	Compare bool `json:"compare"`
}

// Default returns the published numbers with the given update and pool:
// 96 wide, 192 episodes; plans of 6 tokens for the documented update, of 8 for
// the others; contexts of up to 10 tokens and 5 stages.
func Default(update, pool string) Config {
	c := Config{
		Pool: pool, Hidden: 96, Stages: arithmetic.Stages, Batch: 192, Steps: arithmetic.SoundLimit, Context: 10,
		Update: update, LearningRate: 3e-4, ValueCoef: 0.5, EntropyCoef: 0.01, MaxGradNorm: 1,
		Discount: 1, Lambda: 0.95, GRPO: objective.Default(),
	}
	if update == UpdateDocumented {
		c.Steps, c.Stages = arithmetic.DocumentedPlan, 3
	}
	return c
}

// The largest numbers that Validate lets pass.
const (
	maxMemory = 16
	maxHidden = 1024
	maxStages = 1024
	maxSize   = 1 << 16
	maxValues = 1 << 27 // of one layer over a batch: a learner holds some eight times as many
)

// Validate says which field is wrong, as a [*tools.Error].
func (c Config) Validate() error {
	if err := refusal.OneOf("pool", c.Pool, PoolBatch, PoolOwn, PoolOrdered); err != nil {
		return err
	}
	if err := refusal.OneOf("update", c.Update, UpdateDocumented, UpdateA2C, UpdateGRPO); err != nil {
		return err
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

// dims are the sizes of the network.
func (c Config) dims() network.Dims {
	pool := map[string]network.Pool{PoolBatch: network.Batch, PoolOwn: network.Own, PoolOrdered: network.Ordered}
	return network.Dims{
		Vocabulary: arithmetic.Vocabulary, Hidden: c.Hidden, Stages: c.Stages,
		Start: arithmetic.Ctx, Pool: pool[c.Pool],
	}
}

func (c Config) size(batch int) network.Size {
	return network.Size{Batch: batch, Steps: c.Steps, Context: c.Context}
}

// objective translates the update; the surrogate of grpo comes with a batch.
func (c Config) objective() update.Objective {
	kind := map[string]update.Kind{UpdateDocumented: update.Documented, UpdateA2C: update.Sound, UpdateGRPO: update.Relative}
	return update.Objective{
		Kind: kind[c.Update], Value: c.ValueCoef, Entropy: c.EntropyCoef, Discount: c.Discount, Lambda: c.Lambda,
	}
}
