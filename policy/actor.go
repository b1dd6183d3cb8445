package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/nn"
	"toolgym/tools"
)

// Plan is a sequence of tokens that an actor chose for a task.
type Plan struct {
	Tokens []int
	Probs  []float64 // of each token, given those before it
	Values []float64 // the critic's estimate before each token
}

// Actor plans with a network. It is used by one goroutine.
type Actor struct {
	net      *Net
	forwards map[int]*forward // by the number of prompts
}

// forward is a forward pass for a number of prompts.
type forward struct {
	*nn.Forward[float32]
	ready    bool        // the present weights are prepared
	probs    []float32   // (steps·batch, vocabulary)
	logProbs [][]float64 // (batch, steps)
	actions  []int       // (steps·batch)
}

// NewActor returns an actor that uses the network's present weights.
func NewActor(n *Net) *Actor { return &Actor{net: n, forwards: map[int]*forward{}} }

// Refresh makes the actor use weights that have changed since its last plan.
func (a *Actor) Refresh() {
	for _, f := range a.forwards {
		f.ready = false
	}
}

// Plan plans for all prompts at once: greedily if rng is nil, otherwise by
// sampling. [PoolBatch] mixes the prompts of one call. A plan has all of the
// configuration's steps: only the environment knows where the episode ends. An
// invalid prompt is a [*tools.Error].
func (a *Actor) Plan(prompts []Prompt, rng *rand.Rand) ([]Plan, error) {
	if len(prompts) == 0 {
		return nil, nil
	}
	f, err := a.forward(prompts)
	if err != nil {
		return nil, err
	}
	f.choose(a.net, len(prompts), rng)
	plans := make([]Plan, len(prompts))
	steps := a.net.config.Steps
	for b := range plans {
		p := Plan{Tokens: make([]int, steps), Probs: make([]float64, steps), Values: make([]float64, steps)}
		for t := range steps {
			i := t*len(prompts) + b
			p.Tokens[t], p.Values[t] = f.actions[i], float64(f.Values[i])
			p.Probs[t] = math.Exp(f.logProbs[b][t])
		}
		plans[b] = p
	}
	return plans, nil
}

// forward returns a prepared forward pass over prompts.
func (a *Actor) forward(prompts []Prompt) (*forward, error) {
	c, batch := a.net.config, len(prompts)
	f, ok := a.forwards[batch]
	if !ok {
		f = &forward{Forward: nn.NewForward(a.net.arithmetic, a.net.params, c.size(batch))}
		f.probs, f.logProbs = make([]float32, len(f.Logits)), nn.NewRows[float64](batch, c.Steps)
		f.actions = make([]int, len(f.Values))
		a.forwards[batch] = f
	}
	if err := c.load(f.Forward, prompts); err != nil {
		return nil, err
	}
	if !f.ready {
		f.Prepare()
		f.ready = true
	}
	return f, nil
}

// choose chooses a token for each prompt and step, which is the next step's
// input.
func (f *forward) choose(n *Net, batch int, rng *rand.Rand) {
	v := n.config.Vocabulary.Size
	f.Start()
	for t := range n.config.Steps {
		logits := f.Step(t)
		chosen := f.actions[t*batch : (t+1)*batch]
		if rng == nil {
			nn.Greedy(logits, v, chosen)
		} else {
			nn.Sample(n.arithmetic, logits, v, rng, f.probs[:len(logits)], chosen)
		}
		copy(f.Plan.Tokens[min((t+1)*batch, len(f.actions)):], chosen)
	}
	f.Value()
	nn.LogProbs(n.arithmetic, f.Logits, v, f.actions, f.probs, f.logProbs)
}

// PlanLogProbs is what a network assigns to a given plan, per token.
type PlanLogProbs struct {
	LogProbs []float64 // of each token, given those before it
	ToolMass []float64 // probability of all tool calls together, before the token
	Values   []float64 // the critic's estimate before the token
}

// LogProbs returns what the network assigns to given plans, for ratios and
// divergences. Plans may be shorter than the network's. A longer plan or an
// invalid prompt is a [*tools.Error].
func (a *Actor) LogProbs(prompts []Prompt, plans [][]int) ([]PlanLogProbs, error) {
	if len(prompts) != len(plans) {
		return nil, refusal.New("/plans", fmt.Sprintf("%d plans, one for each prompt", len(prompts)), "%d plans", len(plans))
	}
	if len(prompts) == 0 {
		return nil, nil
	}
	f, err := a.forward(prompts)
	if err != nil {
		return nil, err
	}
	c := a.net.config
	for b, plan := range plans {
		if err := c.force(f.actions, b, len(plans), plan); err != nil {
			return nil, err
		}
	}
	f.Follow(f.actions)
	f.Value()
	nn.LogProbs(a.net.arithmetic, f.Logits, c.Vocabulary.Size, f.actions, f.probs, f.logProbs)
	list := make([]PlanLogProbs, len(plans))
	for b, plan := range plans {
		p := PlanLogProbs{LogProbs: f.logProbs[b][:len(plan):len(plan)], ToolMass: make([]float64, len(plan)), Values: make([]float64, len(plan))}
		p.LogProbs = append([]float64(nil), p.LogProbs...)
		for t := range plan {
			i := t*len(plans) + b
			p.Values[t] = float64(f.Values[i])
			p.ToolMass[t] = c.toolMass(f.probs[i*c.Vocabulary.Size:])
		}
		list[b] = p
	}
	return list, nil
}

// toolMass adds up the probabilities of all tool calls in a row of the softmax.
func (c Config) toolMass(row []float32) float64 {
	mass := 0.0
	for _, p := range row[c.Vocabulary.FirstTool : c.Vocabulary.LastTool+1] {
		mass += float64(p)
	}
	return mass
}

// force writes plan b of a batch into actions, padded with the end token.
func (c Config) force(actions []int, b, batch int, plan []int) error {
	if len(plan) > c.Steps {
		return refusal.New(fmt.Sprintf("/plans/%d", b), fmt.Sprintf("at most %d", c.Steps), "%d tokens", len(plan))
	}
	for t := range c.Steps {
		token := c.Vocabulary.End
		if t < len(plan) {
			token = plan[t]
		}
		if !c.isToken(token) {
			return c.unknownToken(fmt.Sprintf("/plans/%d/%d", b, t), token)
		}
		actions[t*batch+b] = token
	}
	return nil
}

// NewAgent returns an agent that plays with a network: it encodes a task by the
// environment's Enumerator, plans greedily before its first call, and makes the
// plan's calls. It is used by one goroutine at a time. A task that the network
// cannot plan is a [*tools.Error].
func NewAgent(n *Net, enumerate func() tools.Enumerator) tools.Agent {
	return &agent{env: enumerate(), actor: NewActor(n), prompts: make([]Prompt, 1)}
}

type agent struct {
	env     tools.Enumerator
	actor   *Actor
	prompts []Prompt
}

var _ tools.Agent = (*agent)(nil)

func (a *agent) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	calls, err := a.plan(task)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		step, err := caller.Step(ctx, call)
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

func (a *agent) plan(task tools.Task) ([]tools.Call, error) {
	if err := a.env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	if err := a.prompts[0].Read(a.env, task.Level); err != nil {
		return nil, err
	}
	a.actor.Refresh()
	plans, err := a.actor.Plan(a.prompts, nil)
	if err != nil {
		return nil, err
	}
	return a.env.Calls(task, plans[0].Tokens)
}
