package policy

import (
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/network"
)

// Plan is what an actor would do in a task, in the order of its tokens.
type Plan struct {
	Tokens []int
	Probs  []float64 // of each token, given those before it
	Values []float64 // what the critic expects at each token
}

// Actor plans with a network, in plain Go. It belongs to one goroutine.
type Actor struct {
	net      *Net
	forwards map[int]*acting // by the number of prompts
}

// acting is the memory to plan for a number of prompts.
type acting struct {
	*network.Forward[float32]
	ready    bool // the present weights are prepared
	probs    []float32
	logProbs []float32
	actions  []int
}

// NewActor returns an actor on the network's present weights.
func NewActor(n *Net) *Actor { return &Actor{net: n, forwards: map[int]*acting{}} }

// Refresh takes over weights that were changed since the last plan.
func (a *Actor) Refresh() {
	for _, f := range a.forwards {
		f.ready = false
	}
}

// Plan plans for all prompts at once: greedily if rng is nil, else by sampling
// from it. The pool batch mixes the prompts of one call. A plan has all of the
// configuration's steps: where an episode ends in it, only the environment knows.
// A prompt that the network can not read is a [*tools.Error].
func (a *Actor) Plan(prompts []Prompt, rng *rand.Rand) ([]Plan, error) {
	if len(prompts) == 0 {
		return nil, nil
	}
	f := a.forward(len(prompts))
	if err := a.net.config.load(f.Forward, prompts); err != nil {
		return nil, err
	}
	if !f.ready {
		f.Prepare()
		f.ready = true
	}
	f.run(a.net, len(prompts), rng)
	return f.plans(a.net, len(prompts)), nil
}

func (a *Actor) forward(batch int) *acting {
	f, ok := a.forwards[batch]
	if !ok {
		c := a.net.config
		f = &acting{Forward: network.NewForward(a.net.arithmetic, a.net.params, c.size(batch))}
		f.probs, f.logProbs = make([]float32, len(f.Logits)), make([]float32, len(f.Values))
		f.actions = make([]int, len(f.Values))
		a.forwards[batch] = f
	}
	return f
}

// run chooses a token for each prompt and step, and lets it enter next.
func (f *acting) run(n *Net, batch int, rng *rand.Rand) {
	v := n.params.Vocabulary
	f.Start()
	for t := range n.config.Steps {
		logits := f.Step(t)
		chosen := f.actions[t*batch : (t+1)*batch]
		if rng == nil {
			network.Greedy(logits, v, chosen)
		} else {
			network.Sample(n.arithmetic, logits, v, rng, f.probs[:len(logits)], chosen)
		}
		copy(f.Plan.Tokens[min((t+1)*batch, len(f.actions)):], chosen)
	}
	f.Value()
	network.LogProbs(n.arithmetic, f.Logits, v, f.actions, f.probs, f.logProbs)
}

// plans turns rows of steps into plans.
func (f *acting) plans(n *Net, batch int) []Plan {
	plans := make([]Plan, batch)
	steps := n.config.Steps
	tokens, numbers := make([]int, batch*steps), make([]float64, 2*batch*steps)
	for b := range plans {
		p := Plan{Tokens: tokens[b*steps : (b+1)*steps], Probs: numbers[2*b*steps:][:steps], Values: numbers[(2*b+1)*steps:][:steps]}
		for t := range steps {
			i := t*batch + b
			p.Tokens[t], p.Values[t] = f.actions[i], float64(f.Values[i])
			p.Probs[t] = math.Exp(float64(f.logProbs[i]))
		}
		plans[b] = p
	}
	return plans
}
