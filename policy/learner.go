package policy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/graph"
	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
)

// Learner trains a network. It belongs to one goroutine; learners do not share
// anything, so that any number can train at once.
type Learner struct {
	net       *Net
	graph     *graph.Graph[float32]
	adam      *update.Adam[float32]
	start     *Net       // the frozen starting policy; nil where it is not needed
	reference *reference // runs start
	updates   int
	scratch   []float32 // of sampling
	fresh     *Batch    // whose run with the present weights the graph still holds
}

// NewLearner returns a learner that goes on from a network's weights, and
// changes them. They are also its starting policy, where one is needed.
func NewLearner(n *Net) (*Learner, error) {
	c := n.config
	g, err := graph.New(n.arithmetic, n.params, c.size(c.Batch))
	if err != nil {
		return nil, err
	}
	g.Loss.Objective = c.objective()
	l := &Learner{
		net: n, graph: g, adam: update.NewAdam[float32](c.LearningRate, len(n.params.Flat)),
		scratch: make([]float32, c.Batch*n.params.Vocabulary),
	}
	if c.Compare || c.Update == UpdateGRPO {
		l.freeze(n.Clone())
	}
	return l, nil
}

// freeze makes a network the starting policy.
func (l *Learner) freeze(start *Net) {
	l.start = start
	l.reference = newReference(start)
}

// Net returns the network, whose weights every update changes.
func (l *Learner) Net() *Net { return l.net }

// Updates is the number of updates made.
func (l *Learner) Updates() int { return l.updates }

// Sample plans for all prompts of the batch, and writes Plans. A prompt that
// the network can not read is a [*tools.Error].
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
		network.Sample(l.net.arithmetic, logits, l.net.params.Vocabulary, rng, l.scratch, drawn)
		copy(f.Plan.Tokens[min((t+1)*c.Batch, len(actions)):], drawn)
		for i, token := range drawn {
			b.Plans[i][t] = token
		}
	}
	b.sampled = false
	l.fresh = b
	return nil
}

// DivergedError is the error of an update whose gradient is not a number, or along
// whose gradient a step would overflow float32. The weights and the optimizer are
// those before it.
type DivergedError struct {
	Update   int // counted from 1
	GradNorm float64
}

// Error tells the update.
func (d *DivergedError) Error() string {
	if !math.IsNaN(d.GradNorm) && !math.IsInf(d.GradNorm, 0) {
		return fmt.Sprintf("update %d: a step along a gradient of norm %v overflows; the weights are left as they were", d.Update, d.GradNorm)
	}
	return fmt.Sprintf("update %d: the gradient's norm is %v; the weights are left as they were", d.Update, d.GradNorm)
}

// Update makes one update from a batch. Updates of grpo may use a batch
// several times: ratios are to the policy that sampled its plans or, where they
// were handed in, to the policy of the first update by them. An error is a
// [*tools.Error] for a batch that does not fit, or a [*DivergedError].
func (l *Learner) Update(b *Batch) (Metrics, error) {
	if err := l.take(b); err != nil {
		return Metrics{}, err
	}
	start := l.compare()
	if l.net.config.Update == UpdateGRPO {
		l.graph.Loss.Objective.Surrogate = l.surrogate(b, start)
	}
	l.fresh = nil
	err := l.graph.Run()
	// The surrogate holds the learner. Left in the graph, whose machine has a
	// finalizer, it would close a circle that is never collected.
	l.graph.Loss.Objective.Surrogate = nil
	if err != nil {
		return Metrics{}, fmt.Errorf("update %d: %w", l.updates+1, err)
	}
	norm := update.Norm(l.graph.Grad)
	if math.IsNaN(norm) || math.IsInf(norm, 0) || !l.adam.Fits(l.net.params.Flat, norm, l.net.config.MaxGradNorm) {
		return Metrics{}, &DivergedError{Update: l.updates + 1, GradNorm: norm}
	}
	l.adam.Step(l.net.arithmetic, l.net.params.Flat, l.graph.Grad, norm, l.net.config.MaxGradNorm)
	l.updates++
	m := l.measure(b, start)
	m.GradNorm = norm
	return m, nil
}

// compare returns the starting policy's log-probabilities of the plans in the
// graph, nil without a starting policy.
func (l *Learner) compare() []float32 {
	if l.reference == nil {
		return nil
	}
	return l.reference.run(l.net, l.graph.Forward, l.graph.Loss.Episodes.Actions)
}
