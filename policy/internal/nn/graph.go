package nn

import (
	"fmt"

	_ "go4.org/unsafe/assume-no-moving-gc" // gorgonia panics at start if it is older than the Go release
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"toolgym/policy/internal/blas"
)

// Graph computes the loss of a batch and the gradient of all parameters, in one
// static gorgonia graph whose machine and buffers are reused by every run.
//
//	h₀ = tanh(bag(emb, contexts) + bag(stage_emb, stages))    or the context's GRU instead of the first bag
//	h  = gru(h₀, linear(emb, rnn.weight_ih, rnn.bias_ih), rnn.weight_hh, rnn.bias_hh)
//	loss = loss(linear(h, pi), linear(h, v))
//
// Tokens, stages and episodes are not nodes: the graph reads them from Forward
// and Loss when it runs. It does not change gorgonia's global settings
// (gorgonia.Use would replace the matrix product of the whole process): fused
// nodes get their arithmetic as an argument.
type Graph[F blas.Float] struct {
	Forward *Forward[F] // with the contexts, stages and tokens of the batch
	Loss    *Loss[F]    // with the objective and the episodes
	Grad    []F         // the gradient, in the order of Params.Flat

	machine gorgonia.VM
	reads   []gorgonia.Value // the pieces of Grad, into which gorgonia copies
}

// NewGraph builds the graph of a network for one size of batch. The graph refers
// to the parameters, so that it sees every change.
func NewGraph[F blas.Float](k blas.Arithmetic[F], p *Params[F], s Size) (*Graph[F], error) {
	g := &Graph[F]{
		Forward: NewForward(k, p, s),
		Loss:    NewLoss(k, s.Batch, s.Steps, p.Vocabulary),
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
func (g *Graph[F]) network(b *builder[F], s Size) *gorgonia.Node {
	f, p := g.Forward, b.params
	var context *gorgonia.Node
	if p.Pool == PoolOrdered {
		context = b.gru("ctx", f.Past(), nil, true)
	} else {
		mean := EmbeddingBag[F]{Width: s.Context, Dim: p.Hidden, Shared: p.Pool == PoolBatch}
		context = b.bag("context", b.nodes["emb.weight"], mean, f.Contexts)
	}
	stage := b.bag("stage", b.nodes["stage_emb.weight"], EmbeddingBag[F]{Width: 1, Dim: p.Hidden}, f.Stages)
	h := b.gru("rnn", f.Plan, b.first(context, stage), false)
	logits := b.linear("pi", h, b.nodes["pi.weight"], b.nodes["pi.bias"], f.Logits)
	values := b.linear("v", h, b.nodes["v.weight"], b.nodes["v.bias"], f.Values)
	return b.loss(g.Loss, logits, values)
}

// first is the initial state, tanh(context + stage).
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

// differentiate adds the gradients, and copies of each into its part of Grad.
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

// Run computes Loss and Grad. The tokens of Forward.Plan must be the start token,
// followed by Loss.Episodes.Actions.
func (g *Graph[F]) Run() error {
	defer g.machine.Reset()
	if err := g.machine.RunAll(); err != nil {
		return fmt.Errorf("running the graph: %w", err)
	}
	return nil
}

// Force sets the actions (steps·batch) of the next run, in the loss and as
// inputs of the network.
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
		ByStep(f.Contexts, batch, past.Tokens)
		past.Fresh = false
	}
}

// builder adds nodes to a graph and keeps the first error, so that building the
// network reads without error checks.
type builder[F blas.Float] struct {
	g      *gorgonia.ExprGraph
	k      blas.Arithmetic[F]
	params *Params[F]
	nodes  map[string]*gorgonia.Node // the parameters
	err    error
}

// declare adds a node for each parameter, on the parameter's memory.
func (b *builder[F]) declare() {
	of := tensor.Float64
	if _, single := any(F(0)).(float32); single {
		of = tensor.Float32
	}
	b.nodes = map[string]*gorgonia.Node{}
	for _, q := range b.params.List() {
		b.nodes[q.Name] = gorgonia.NewTensor(b.g, of, len(q.Shape),
			gorgonia.WithShape(q.Shape...), gorgonia.WithName(q.Name), gorgonia.WithValue(dense(q.Values, q.Shape)))
	}
}

func (b *builder[F]) apply(op gorgonia.Op, inputs ...*gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, err := gorgonia.ApplyOp(op, inputs...)
	b.err = err
	return n
}

// linear adds x·Wᵀ + b; the result is written to values.
func (b *builder[F]) linear(name string, x, weight, bias *gorgonia.Node, values []F) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	op := newFused("linear "+name, values, tensor.Shape{x.Shape()[0], weight.Shape()[0]}, x, weight, bias)
	op.run = func(in [][]F, values []F) error {
		Linear[F]{Weight: in[1], Bias: in[2]}.Apply(b.k, in[0], values)
		return nil
	}
	op.grad = func(in [][]F, d []F, grads [][]F) {
		Linear[F]{Weight: in[1], Bias: in[2]}.Grad(b.k, in[0], d, grads[0], Linear[F]{Weight: grads[1], Bias: grads[2]})
	}
	return b.apply(op, x, weight, bias)
}

// bag adds the means of the rows of a table that tokens select.
func (b *builder[F]) bag(name string, table *gorgonia.Node, bag EmbeddingBag[F], tokens []int) *gorgonia.Node {
	rows := len(tokens) / bag.Width
	op := newFused("bag "+name, make([]F, rows*bag.Dim), tensor.Shape{rows, bag.Dim}, table)
	op.run = func(in [][]F, values []F) error {
		bag.Apply(b.k, in[0], tokens, values)
		return nil
	}
	scratch := make([]F, rows*bag.Dim)
	op.grad = func(_ [][]F, d []F, grads [][]F) {
		copy(scratch, d)
		bag.Grad(b.k, tokens, scratch, grads[0])
	}
	return b.apply(op, table)
}

// gru adds a recurrence from the states h0, or from zero if h0 is nil. Its result
// is the states after all steps, or after the last. A fresh run is not repeated.
func (b *builder[F]) gru(name string, r *Recurrence[F], h0 *gorgonia.Node, last bool) *gorgonia.Node {
	weight, bias := b.nodes[name+".weight_hh_l0"], b.nodes[name+".bias_hh_l0"]
	table := b.linear(name+" table", b.nodes["emb.weight"], b.nodes[name+".weight_ih_l0"], b.nodes[name+".bias_ih_l0"],
		make([]F, b.params.Vocabulary*3*b.params.Hidden))
	if b.err != nil {
		return nil
	}
	inputs := []*gorgonia.Node{table, weight, bias}
	if h0 != nil {
		inputs = append(inputs, h0)
	}
	values := r.Outputs()
	if last {
		values = values[len(values)-len(r.State(0)):]
	}
	op := newFused("gru "+name, values, tensor.Shape{len(values) / b.params.Hidden, b.params.Hidden}, inputs...)
	op.run = func(in [][]F, _ []F) error {
		runGRU(r, in)
		return nil
	}
	unused := make([]F, len(r.State(0))) // the gradient of initial states that are not a node
	op.grad = func(in [][]F, d []F, grads [][]F) {
		grad := RecurrenceGrad[F]{Table: grads[0], WeightHH: grads[1], BiasHH: grads[2], H0: unused}
		if len(grads) > 3 {
			grad.H0 = grads[3]
		}
		r.Grad(in[1], d, grad)
	}
	return b.apply(op, inputs...)
}

// runGRU runs a recurrence unless it is fresh. Its inputs are the table, the
// weights, the biases and, optionally, the initial states.
func runGRU[F blas.Float](r *Recurrence[F], in [][]F) {
	if r.Fresh {
		r.Fresh = false
		return
	}
	r.Begin(in[1], in[2], in[0])
	if len(in) > 3 {
		copy(r.State(0), in[3])
	} else {
		clear(r.State(0))
	}
	r.Run()
}

// loss adds the scalar loss of logits and values.
func (b *builder[F]) loss(l *Loss[F], logits, values *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	op := newFused("loss", make([]F, 1), tensor.Shape{1}, logits, values)
	op.scalar = true
	op.run = func(in [][]F, out []F) error {
		err := l.Compute(in[0], in[1])
		out[0] = F(l.Statistics.Loss)
		return err
	}
	op.grad = func(_ [][]F, d []F, grads [][]F) {
		for i, x := range l.DLogits {
			grads[0][i] = x * d[0]
		}
		for i, x := range l.DValues {
			grads[1][i] = x * d[0]
		}
	}
	return b.apply(op, logits, values)
}
