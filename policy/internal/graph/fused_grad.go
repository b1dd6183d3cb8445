package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"toolgym/policy/internal/vector"
)

var _ gorgonia.SDOp = (*fused[float32])(nil)

// DiffWRT says that all inputs have a gradient: what has none is no node.
func (op *fused[F]) DiffWRT(inputs int) []bool {
	differentiable := make([]bool, inputs)
	for i := range differentiable {
		differentiable[i] = op.grad != nil
	}
	return differentiable
}

// SymDiff adds one node that computes the gradients of all inputs into one
// vector, and a node for each input that cuts its part out.
func (op *fused[F]) SymDiff(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	all := op.gradient(grad)
	joint, err := gorgonia.ApplyOp(all, append(append(gorgonia.Nodes{}, inputs...), grad)...)
	if err != nil {
		return nil, fmt.Errorf("adding the gradient of %s: %w", op.name, err)
	}
	parts := make(gorgonia.Nodes, len(inputs))
	offset := 0
	for i, shape := range op.inputs {
		if parts[i], err = gorgonia.ApplyOp(part[F](joint, i, offset, shape), joint); err != nil {
			return nil, fmt.Errorf("adding a part of %s: %w", all.name, err)
		}
		offset += shape.TotalSize()
	}
	return parts, nil
}

// gradient is the operation whose result is the gradients of op's inputs one
// after another, and whose last input is the gradient of op's result.
func (op *fused[F]) gradient(grad *gorgonia.Node) *fused[F] {
	total := 0
	for _, s := range op.inputs {
		total += s.TotalSize()
	}
	joint := make([]F, total)
	var grads [][]F
	rest := joint
	for _, s := range op.inputs {
		grads, rest = append(grads, rest[:s.TotalSize()]), rest[s.TotalSize():]
	}
	all := newFused("gradient of "+op.name, joint, tensor.Shape{total})
	all.inputs = append(append(all.inputs, op.inputs...), grad.Shape().Clone())
	all.run = func(in [][]F, _ []F) error {
		op.grad(in[:len(in)-1], in[len(in)-1], grads)
		return nil
	}
	return all
}

// part copies a piece of a vector into a tensor of its own, which gorgonia may
// add to.
func part[F vector.Float](joint *gorgonia.Node, i, offset int, shape tensor.Shape) *fused[F] {
	cut := newFused(fmt.Sprintf("part %d of %v", i, joint.Op()), make([]F, shape.TotalSize()), shape.Clone(), joint)
	cut.run = func(in [][]F, values []F) error {
		copy(values, in[0][offset:])
		return nil
	}
	return cut
}
