package policy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/nn"
)

// Learner trains a network. It is used by one goroutine; learners share nothing,
// so that any number can train at the same time.
type Learner struct {
	net       *Net
	graph     *nn.Graph[float32]
	adam      *nn.Adam[float32]
	start     *Net       // the frozen initial policy; nil if it is not needed
	reference *reference // runs start
	updates   int
	scratch   []float32 // (batch, vocabulary) for sampling
	fresh     *Batch    // whose run with the present weights the graph holds
}

// NewLearner returns a learner that continues from a network's weights, and
// changes them. These weights are also its initial policy, where one is needed.
func NewLearner(n *Net) (*Learner, error) {
	c := n.config
	g, err := nn.NewGraph(n.arithmetic, n.params, c.size(c.Batch))
	if err != nil {
		return nil, err
	}
	g.Loss.Objective = c.objective()
	l := &Learner{
		net: n, graph: g, adam: nn.NewAdam[float32](c.LearningRate, len(n.params.Flat)),
		scratch: make([]float32, c.Batch*c.Vocabulary.Size),
	}
	if c.Compare || c.Update == UpdateGRPO {
		l.freeze(n.Clone())
	}
	return l, nil
}

// freeze sets the initial policy.
func (l *Learner) freeze(start *Net) {
	l.start = start
	l.reference = newReference(start)
}

// Net returns the network, whose weights every update changes.
func (l *Learner) Net() *Net { return l.net }

// Updates returns the number of updates made.
func (l *Learner) Updates() int { return l.updates }

// Sample draws plans for all prompts of the batch and sets Plans. An invalid
// prompt is a [*tools.Error].
func (l *Learner) Sample(b *Batch, rng *rand.Rand) error {
	l.fresh = nil
	f, c := l.graph.Forward, l.net.config
	if err := c.load(f, b.Prompts); err != nil {
		return err
	}
	f.Prepare()
	f.Start()
	actions := l.graph.Loss.Episodes.Actions
	for t := range c.Steps {
		logits := f.Step(t)
		drawn := actions[t*c.Batch : (t+1)*c.Batch]
		nn.Sample(l.net.arithmetic, logits, c.Vocabulary.Size, rng, l.scratch, drawn)
		copy(f.Plan.Tokens[min((t+1)*c.Batch, len(actions)):], drawn)
		for i, token := range drawn {
			b.Plans[i][t] = token
		}
	}
	b.content = nil
	l.fresh = b
	return nil
}

// DivergedError is the error of an update whose gradient is not finite, or whose
// step would overflow float32. Weights and optimizer are unchanged.
type DivergedError struct {
	Update   int // from 1
	GradNorm float64
}

// Error returns the update and the norm of its gradient.
func (d *DivergedError) Error() string {
	if !math.IsNaN(d.GradNorm) && !math.IsInf(d.GradNorm, 0) {
		return fmt.Sprintf("update %d: a step along a gradient of norm %v overflows; the weights are unchanged", d.Update, d.GradNorm)
	}
	return fmt.Sprintf("update %d: the norm of the gradient is %v; the weights are unchanged", d.Update, d.GradNorm)
}

// Update makes one update from a batch. Updates by grpo may use a batch several
// times: ratios refer to the policy of the first update by its plans. The error
// is a [*tools.Error] for an invalid batch, or a [*DivergedError].
func (l *Learner) Update(b *Batch) (Metrics, error) {
	if err := l.load(b); err != nil {
		return Metrics{}, err
	}
	e := &l.graph.Loss.Episodes
	if l.reference != nil {
		e.Ref = l.reference.logProbs(l.net, l.graph.Forward, e.Actions)
	}
	c := l.net.config
	if c.Update == UpdateGRPO {
		e.Advantages, e.Old = b.Advantages, b.ratios()
	}
	l.fresh = nil
	if err := l.graph.Run(); err != nil {
		return Metrics{}, fmt.Errorf("update %d: %w", l.updates+1, err)
	}
	if c.Update == UpdateGRPO && e.Old == nil {
		b.setRatios(l.graph.Loss.LogProbs)
	}
	norm := nn.Norm(l.graph.Grad)
	if math.IsNaN(norm) || math.IsInf(norm, 0) || !l.adam.Fits(l.net.params.Flat, norm, c.MaxGradNorm) {
		return Metrics{}, &DivergedError{Update: l.updates + 1, GradNorm: norm}
	}
	l.adam.Step(l.net.arithmetic, l.net.params.Flat, l.graph.Grad, norm, c.MaxGradNorm)
	l.updates++
	m := l.measure(b)
	m.GradNorm = norm
	return m, nil
}

// load copies a batch into the graph. If it was sampled last, its plans and its
// forward pass are there already.
func (l *Learner) load(b *Batch) error {
	c, e := l.net.config, l.graph.Loss.Episodes
	if err := c.checkBatch(b); err != nil {
		return err
	}
	copy(e.Lengths, b.Lengths)
	for i, row := range b.Rewards {
		for t, r := range row {
			e.Rewards[i][t] = float32(r)
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
	l.graph.Force(c.Vocabulary.Start, e.Actions)
	return nil
}

// unchanged reports whether the plans are those that were sampled.
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

// reference computes log-probabilities under the initial policy.
type reference struct {
	forward *nn.Forward[float32]
	probs   []float32   // (steps·batch, vocabulary)
	rows    [][]float64 // (batch, steps)
}

func newReference(n *Net) *reference {
	c := n.config
	f := nn.NewForward(n.arithmetic, n.params, c.size(c.Batch))
	f.Prepare() // once: the initial policy is frozen
	return &reference{f, make([]float32, len(f.Logits)), nn.NewRows[float64](c.Batch, c.Steps)}
}

// logProbs returns the log-probabilities (batch, steps) of actions, for the
// contexts and stages of a forward pass.
func (r *reference) logProbs(n *Net, of *nn.Forward[float32], actions []int) [][]float64 {
	copy(r.forward.Contexts, of.Contexts)
	copy(r.forward.Stages, of.Stages)
	r.forward.Follow(actions)
	nn.LogProbs(n.arithmetic, r.forward.Logits, n.config.Vocabulary.Size, actions, r.probs, r.rows)
	return r.rows
}
