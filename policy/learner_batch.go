package policy

import (
	"fmt"
	"math"

	"toolgym/internal/refusal"
	"toolgym/tools/arithmetic"
)

// take writes a batch into the graph. What was sampled last is there already,
// with its forward pass.
func (l *Learner) take(b *Batch) error {
	if err := l.checkBatch(b); err != nil {
		return err
	}
	c, e := l.net.config, l.graph.Loss.Episodes
	for i := range b.Plans {
		e.Lengths[i] = b.Lengths[i]
		for t, r := range b.Rewards[i] {
			e.Rewards[t*c.Batch+i] = float32(r)
		}
	}
	if l.fresh == b && l.unchanged(b) {
		l.graph.Forward.Keep()
		return nil
	}
	if err := c.load(l.graph.Forward, b.Prompts); err != nil {
		return err
	}
	for i, plan := range b.Plans {
		for t, token := range plan {
			e.Actions[t*c.Batch+i] = token
		}
	}
	l.graph.Force(arithmetic.Ctx, e.Actions)
	return nil
}

// unchanged says whether the plans are still those that were sampled.
func (l *Learner) unchanged(b *Batch) bool {
	actions, size := l.graph.Loss.Episodes.Actions, l.net.config.Batch
	for i, plan := range b.Plans {
		for t, token := range plan {
			if actions[t*size+i] != token {
				return false
			}
		}
	}
	return true
}

// checkBatch refuses a batch that does not fit.
func (l *Learner) checkBatch(b *Batch) error {
	c := l.net.config
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
			if token < 0 || token >= arithmetic.Vocabulary {
				return refusal.New(fmt.Sprintf("plans/%d/%d", i, t), fmt.Sprintf("0 to %d", arithmetic.Vocabulary-1), "%d is no token", token)
			}
			if r := b.Rewards[i][t]; math.IsNaN(r) || math.IsInf(r, 0) {
				return refusal.New(fmt.Sprintf("rewards/%d/%d", i, t), "a finite number", "%v", r)
			}
		}
	}
	return nil
}
