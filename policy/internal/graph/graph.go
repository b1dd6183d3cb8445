package graph

import (
	"fmt"

	_ "go4.org/unsafe/assume-no-moving-gc" // gorgonia panics at start if it is older than the Go release
	"gorgonia.org/gorgonia"

	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
	"toolgym/policy/internal/vector"
)

// Graph computes the loss of a batch and the gradient of all parameters.
type Graph[F vector.Float] struct {
	Forward *network.Forward[F] // contexts, stages and tokens are read from here
	Loss    *update.Loss[F]     // the objective and the episodes are read from here
	Grad    []F                 // the gradient, in the order of Params.Flat

	machine gorgonia.VM
	reads   []gorgonia.Value // the pieces of Grad, into which gorgonia copies
}

// New builds the graph of a network for one size of batch. The graph reads the
// parameters where they are: it sees every change.
func New[F vector.Float](k vector.Arithmetic[F], p *network.Params[F], s network.Size) (*Graph[F], error) {
	g := &Graph[F]{
		Forward: network.NewForward(k, p, s),
		Loss:    update.NewLoss(k, s.Batch, s.Steps, p.Vocabulary),
		Grad:    make([]F, len(p.Flat)),
	}
	b := &builder[F]{g: gorgonia.NewGraph(), k: k, params: p}
	b.declare()
	loss := g.network(b, s)
	if b.err != nil {
		return nil, fmt.Errorf("building the graph: %w", b.err)
	}
	if err := g.differentiate(b, loss); err != nil {
		return nil, fmt.Errorf("differentiating the graph: %w", err)
	}
	g.machine = gorgonia.NewTapeMachine(b.g)
	return g, nil
}

// network adds the nodes from the parameters to the loss.
func (g *Graph[F]) network(b *builder[F], s network.Size) *gorgonia.Node {
	f, p := g.Forward, b.params
	var context *gorgonia.Node
	if p.Pool == network.Ordered {
		context = b.gru("ctx", f.Past(), nil, true)
	} else {
		mean := network.Bag[F]{Width: s.Context, Dim: p.Hidden, Shared: p.Pool == network.Batch}
		context = b.bag("context", b.nodes["emb.weight"], mean, f.Contexts)
	}
	stage := b.bag("stage", b.nodes["stage_emb.weight"], network.Bag[F]{Width: 1, Dim: p.Hidden}, f.Stages)
	h := b.gru("rnn", f.Plan, b.first(context, stage), false)
	logits := b.linear("pi", h, b.nodes["pi.weight"], b.nodes["pi.bias"], f.Logits)
	values := b.linear("v", h, b.nodes["v.weight"], b.nodes["v.bias"], f.Values)
	return b.loss(g.Loss, logits, values)
}

// first is the first state, tanh(context + stage).
func (b *builder[F]) first(context, stage *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	sum, err := gorgonia.Add(context, stage)
	if err != nil {
		b.err = err
		return nil
	}
	h0, err := gorgonia.Tanh(sum)
	b.err = err
	return h0
}

// differentiate adds the gradients and lets the machine copy each into its
// piece of Grad.
func (g *Graph[F]) differentiate(b *builder[F], loss *gorgonia.Node) error {
	var wrt gorgonia.Nodes
	for _, q := range b.params.List() {
		wrt = append(wrt, b.nodes[q.Name])
	}
	grads, err := gorgonia.Grad(loss, wrt...)
	if err != nil {
		return err
	}
	g.reads = make([]gorgonia.Value, len(grads))
	rest := g.Grad
	for i, q := range b.params.List() {
		g.reads[i] = dense(rest[:q.Size()], q.Shape)
		rest = rest[q.Size():]
		gorgonia.Read(grads[i], &g.reads[i])
	}
	return nil
}

// Run computes Loss.Figures and Grad. The tokens of Forward.Plan must be the
// start token and Loss.Episodes.Actions one step later.
func (g *Graph[F]) Run() error {
	defer g.machine.Reset()
	if err := g.machine.RunAll(); err != nil {
		return fmt.Errorf("running the graph: %w", err)
	}
	return nil
}

// Force sets the actions (steps·batch) of the next run, in the loss and as
// inputs.
func (g *Graph[F]) Force(start int, actions []int) {
	copy(g.Loss.Episodes.Actions, actions)
	f := g.Forward
	batch := len(f.Stages)
	for b := range batch {
		f.Plan.Tokens[b] = start
	}
	copy(f.Plan.Tokens[batch:], actions)
	f.Plan.Fresh = false
	if past := f.Past(); past != nil {
		network.ByStep(f.Contexts, batch, past.Tokens)
		past.Fresh = false
	}
}
