package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/nn"
	"toolgym/tools"
)

// Prompt is a task as the network reads it, in tokens of the environment's
// vocabulary.
type Prompt struct {
	Context []int // ends with the vocabulary's start token
	Stage   int
}

// Read encodes the task that an Enumerator started, into the memory that p has.
// Levels are stages: a level that is not a number is a [*tools.Error].
func (p *Prompt) Read(env tools.Enumerator, level string) error {
	stage, err := strconv.Atoi(level)
	if err != nil {
		return refusal.New("stages", "a number", "unknown stage %q", level)
	}
	p.Context, p.Stage = append(env.Context(p.Context[:0]), env.Vocabulary().Start), stage
	return nil
}

// load copies prompts into a forward pass, after checking them.
func (c Config) load(f *nn.Forward[float32], prompts []Prompt) error {
	for b, p := range prompts {
		if err := c.check(b, p); err != nil {
			return err
		}
		row := f.Contexts[b*c.Context : (b+1)*c.Context]
		for i := range row {
			row[i] = -1
		}
		copy(row, p.Context)
		f.Stages[b] = p.Stage
	}
	return nil
}

func (c Config) check(b int, p Prompt) error {
	if p.Stage < 0 || p.Stage >= c.Stages {
		return refusal.New(fmt.Sprintf("/%d/stage", b), fmt.Sprintf("0 to %d", c.Stages-1), "unknown stage %d", p.Stage)
	}
	if n := len(p.Context); n < 1 || n > c.Context {
		return refusal.New(fmt.Sprintf("/%d/context", b), fmt.Sprintf("1 to %d tokens", c.Context), "%d tokens", n)
	}
	for i, token := range p.Context {
		if !c.isToken(token) {
			return c.unknownToken(fmt.Sprintf("/%d/context/%d", b, i), token)
		}
	}
	return nil
}

func (c Config) isToken(token int) bool { return token >= 0 && token < c.Vocabulary.Size }

func (c Config) unknownToken(where string, token int) error {
	return refusal.New(where, fmt.Sprintf("0 to %d", c.Vocabulary.Size-1), "unknown token %d", token)
}

// Batch is the data of one update. A learner makes it once and reuses it: set
// Prompts, let [Learner.Sample] set Plans, play these, and set the rest. All
// slices have a row per episode, and rows of Steps values, whatever the length
// of the episode.
type Batch struct {
	Prompts []Prompt
	// Plans are the tokens that were sampled, or that the caller chose.
	Plans [][]int
	// Lengths are the numbers of tokens that were played, the one that ended the
	// episode included. The documented update ignores it.
	Lengths []int
	// Rewards are those of each token, for the actor-critic updates. They must be
	// 0 after the end of an episode.
	Rewards [][]float64
	// Advantages has one number per episode, for the update grpo.
	Advantages []float64

	// old holds log-probabilities (batch, steps) of the plans under the policy of
	// the first update by them, which ratios refer to; content identifies the
	// prompts and plans that they belong to, nil before that update.
	old     [][]float64
	content []int
}

// tokens returns what log-probabilities depend on: the prompt and plan of each
// episode.
func (b *Batch) tokens() []int {
	list := make([]int, 0, len(b.content))
	for i, p := range b.Prompts {
		list = append(append(list, p.Stage, len(p.Context)), p.Context...)
		list = append(list, b.Plans[i]...)
	}
	return list
}

// ratios returns the log-probabilities that ratios refer to, nil before the first
// update by the batch's prompts and plans.
func (b *Batch) ratios() [][]float64 {
	if b.content == nil || !slices.Equal(b.tokens(), b.content) {
		return nil
	}
	return b.old
}

// setRatios makes ratios refer to log-probabilities (batch, steps).
func (b *Batch) setRatios(logProbs [][]float64) {
	for i, row := range logProbs {
		copy(b.old[i], row)
	}
	b.content = b.tokens()
}

// NewBatch returns an empty batch of the learner's size.
func (l *Learner) NewBatch() *Batch {
	c := l.net.config
	b := &Batch{
		Prompts: make([]Prompt, c.Batch), Plans: make([][]int, c.Batch), Lengths: make([]int, c.Batch),
		Rewards: nn.NewRows[float64](c.Batch, c.Steps), Advantages: make([]float64, c.Batch),
		old: nn.NewRows[float64](c.Batch, c.Steps),
	}
	for i := range b.Plans {
		b.Plans[i], b.Lengths[i] = make([]int, c.Steps), c.Steps
	}
	return b
}

// Play plays every plan in an environment: begin starts the task of episode i,
// act plays one token and returns the reward and whether the episode is over. It
// sets Lengths and Rewards.
func (b *Batch) Play(begin func(i int), act func(token int) (reward float64, done bool)) {
	for i, plan := range b.Plans {
		begin(i)
		clear(b.Rewards[i])
		b.Lengths[i] = len(plan)
		for t, token := range plan {
			reward, done := act(token)
			b.Rewards[i][t] = reward
			if done {
				b.Lengths[i] = t + 1
				break
			}
		}
	}
}

// checkBatch returns a [*tools.Error] for a batch of another shape or with
// invalid numbers.
func (c Config) checkBatch(b *Batch) error {
	for name, n := range map[string]int{
		"prompts": len(b.Prompts), "plans": len(b.Plans), "lengths": len(b.Lengths), "rewards": len(b.Rewards), "advantages": len(b.Advantages),
	} {
		if n != c.Batch {
			return refusal.New(name, fmt.Sprintf("%d, the size of the batch", c.Batch), "%d rows", n)
		}
	}
	for i, a := range b.Advantages {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return refusal.New(fmt.Sprintf("advantages/%d", i), "a finite number", "%v", a)
		}
	}
	for i, plan := range b.Plans {
		if len(plan) != c.Steps || len(b.Rewards[i]) != c.Steps {
			return refusal.New(fmt.Sprintf("plans/%d", i), fmt.Sprintf("%d tokens and rewards", c.Steps), "%d tokens, %d rewards", len(plan), len(b.Rewards[i]))
		}
		if n := b.Lengths[i]; n < 1 || n > c.Steps {
			return refusal.New(fmt.Sprintf("lengths/%d", i), fmt.Sprintf("1 to %d", c.Steps), "%d", n)
		}
		for t, token := range plan {
			if !c.isToken(token) {
				return c.unknownToken(fmt.Sprintf("plans/%d/%d", i, t), token)
			}
			if r := b.Rewards[i][t]; math.IsNaN(r) || math.IsInf(r, 0) {
				return refusal.New(fmt.Sprintf("rewards/%d/%d", i, t), "a finite number", "%v", r)
			}
		}
	}
	return nil
}
