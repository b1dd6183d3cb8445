package policy

import (
	"fmt"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/network"
	"toolgym/tools/arithmetic"
)

// Judgement is what a network makes of a plan that it need not have made, token
// by token.
type Judgement struct {
	LogProbs []float64 // of each token, given those before it
	Tools    []float64 // the probability of the six tools together, where the token stands
	Values   []float64 // what the critic expects there
}

// Judge tells how likely plans are, whoever made them: the log-probabilities
// that a ratio or a divergence is made of. Plans may be shorter than the
// network's own; one that is longer, or a prompt that the network can not read,
// is a [*tools.Error].
func (a *Actor) Judge(prompts []Prompt, plans [][]int) ([]Judgement, error) {
	if len(prompts) != len(plans) {
		return nil, refusal.New("/plans", fmt.Sprintf("%d plans, one for each prompt", len(prompts)), "%d plans", len(plans))
	}
	if len(prompts) == 0 {
		return nil, nil
	}
	f, c := a.forward(len(prompts)), a.net.config
	if err := c.load(f.Forward, prompts); err != nil {
		return nil, err
	}
	for b, plan := range plans {
		if err := c.force(f.actions, b, len(plans), plan); err != nil {
			return nil, err
		}
	}
	if !f.ready {
		f.Prepare()
		f.ready = true
	}
	f.Follow(f.actions)
	f.Value()
	network.LogProbs(a.net.arithmetic, f.Logits, a.net.params.Vocabulary, f.actions, f.probs, f.logProbs)
	return f.judgements(plans), nil
}

// force writes a plan into the rows of steps, its end filled up.
func (c Config) force(actions []int, b, batch int, plan []int) error {
	if len(plan) > c.Steps {
		return refusal.New(fmt.Sprintf("/plans/%d", b), fmt.Sprintf("at most %d", c.Steps), "%d tokens", len(plan))
	}
	for t := range c.Steps {
		token := arithmetic.Eos
		if t < len(plan) {
			token = plan[t]
		}
		if token < 0 || token >= arithmetic.Vocabulary {
			return refusal.New(fmt.Sprintf("/plans/%d/%d", b, t), fmt.Sprintf("0 to %d", arithmetic.Vocabulary-1), "%d is no token", token)
		}
		actions[t*batch+b] = token
	}
	return nil
}

// judgements turns rows of steps into rows of plans.
func (f *acting) judgements(plans [][]int) []Judgement {
	list := make([]Judgement, len(plans))
	for b, plan := range plans {
		numbers := make([]float64, 3*len(plan))
		j := Judgement{numbers[:len(plan)], numbers[len(plan) : 2*len(plan)], numbers[2*len(plan):]}
		for t := range plan {
			i := t*len(plans) + b
			j.LogProbs[t], j.Values[t] = float64(f.logProbs[i]), float64(f.Values[i])
			for _, p := range f.probs[i*arithmetic.Vocabulary:][arithmetic.Mul : arithmetic.Rcl+1] {
				j.Tools[t] += float64(p)
			}
		}
		list[b] = j
	}
	return list
}
