package graph

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
	"toolgym/policy/internal/vector"
)

// builder adds nodes to a graph and keeps the first error, so that the network
// reads as one.
type builder[F vector.Float] struct {
	g      *gorgonia.ExprGraph
	k      vector.Arithmetic[F]
	params *network.Params[F]
	nodes  map[string]*gorgonia.Node // the parameters
	err    error
}

// declare adds a node for each parameter, bound to the parameter's memory.
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

// linear is x·Wᵀ + b; values is the memory of the result.
func (b *builder[F]) linear(name string, x, weight, bias *gorgonia.Node, values []F) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	op := newFused("linear "+name, values, tensor.Shape{x.Shape()[0], weight.Shape()[0]}, x, weight, bias)
	op.run = func(in [][]F, values []F) error {
		network.Linear[F]{Weight: in[1], Bias: in[2]}.Apply(b.k, in[0], values)
		return nil
	}
	op.grad = func(in [][]F, d []F, grads [][]F) {
		network.Linear[F]{Weight: in[1], Bias: in[2]}.Grad(b.k, in[0], d, grads[0], network.Linear[F]{Weight: grads[1], Bias: grads[2]})
	}
	return b.apply(op, x, weight, bias)
}

// bag is the mean of the rows of a table that tokens name.
func (b *builder[F]) bag(name string, table *gorgonia.Node, bag network.Bag[F], tokens []int) *gorgonia.Node {
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

// gru runs a recurrence from the states h0, or from zero where h0 is nil, and
// gives the states after all steps, or after the last. A run that acting has
// left fresh is not repeated.
func (b *builder[F]) gru(name string, r *network.Recurrence[F], h0 *gorgonia.Node, last bool) *gorgonia.Node {
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
	idle := make([]F, len(r.State(0))) // the gradient of first states that are not a node
	op.grad = func(in [][]F, d []F, grads [][]F) {
		grad := network.RecurrenceGrad[F]{Table: grads[0], WeightHH: grads[1], BiasHH: grads[2], H0: idle}
		if len(grads) > 3 {
			grad.H0 = grads[3]
		}
		r.Grad(in[1], d, grad)
	}
	return b.apply(op, inputs...)
}

// runGRU runs a recurrence, given its table, weights, biases and perhaps first
// states, unless it is fresh.
func runGRU[F vector.Float](r *network.Recurrence[F], in [][]F) {
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

// loss is the scalar loss of logits and values.
func (b *builder[F]) loss(l *update.Loss[F], logits, values *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	op := newFused("loss", make([]F, 1), tensor.Shape{1}, logits, values)
	op.scalar = true
	op.run = func(in [][]F, out []F) error {
		err := l.Compute(in[0], in[1])
		out[0] = F(l.Figures.Loss)
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
