package nn

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"toolgym/policy/internal/blas"
)

// fused is a gorgonia operation that calls functions over slices: a linear layer,
// a mean of embeddings, a GRU over all steps, or the loss. Its result is written
// to memory that every run reuses.
type fused[F blas.Float] struct {
	name   string // unique in the graph: gorgonia merges nodes with equal hashes
	inputs []tensor.Shape
	out    *tensor.Dense
	values []F // the memory of out
	// run sets values, given the inputs.
	run func(in [][]F, values []F) error
	// grad sets the gradients of the inputs, given the inputs and the gradient
	// of the result. It is nil for operations that are themselves gradients.
	grad func(in [][]F, d []F, grads [][]F)
	// scalar means that the result is a number instead of a tensor.
	scalar bool
}

// newFused returns an operation whose result has the shape and is written to
// values.
func newFused[F blas.Float](name string, values []F, shape tensor.Shape, inputs ...*gorgonia.Node) *fused[F] {
	op := &fused[F]{name: name, values: values, out: dense(values, shape)}
	for _, n := range inputs {
		op.inputs = append(op.inputs, n.Shape().Clone())
	}
	return op
}

func dense[F blas.Float](values []F, shape tensor.Shape) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
}

// Arity is the number of inputs.
func (op *fused[F]) Arity() int { return len(op.inputs) }

// Type maps tensors of one precision to a tensor or a number of the same.
func (op *fused[F]) Type() hm.Type {
	of := hm.TypeVariable('a')
	var types []hm.Type
	for _, s := range op.inputs {
		types = append(types, typeOf(s, of))
	}
	if op.scalar {
		return hm.NewFnType(append(types, of)...)
	}
	return hm.NewFnType(append(types, typeOf(op.out.Shape(), of))...)
}

func typeOf(s tensor.Shape, of hm.Type) hm.Type {
	if len(s) == 0 {
		return of
	}
	return gorgonia.TensorType{Dims: len(s), Of: of}
}

// InferShape returns the shape that the operation was made with.
func (op *fused[F]) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	if op.scalar {
		return tensor.Shape{}, nil
	}
	return op.out.Shape().Clone(), nil
}

// Do runs the function.
func (op *fused[F]) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	slices := make([][]F, len(in))
	for i, v := range in {
		var err error
		if slices[i], err = sliceOf[F](v); err != nil {
			return nil, fmt.Errorf("reading input %d of %s: %w", i, op.name, err)
		}
	}
	if err := op.run(slices, op.values); err != nil {
		return nil, err
	}
	if op.scalar {
		return number(op.values[0]), nil
	}
	return op.out, nil
}

// sliceOf returns the memory of a tensor, or a number as a slice of one.
func sliceOf[F blas.Float](v gorgonia.Value) ([]F, error) {
	switch data := v.Data().(type) {
	case []F:
		return data, nil
	case F:
		return []F{data}, nil
	default:
		return nil, fmt.Errorf("a value of type %T", data)
	}
}

func number[F blas.Float](x F) gorgonia.Value {
	if single, ok := any(x).(float32); ok {
		return gorgonia.NewF32(single)
	}
	return gorgonia.NewF64(float64(x))
}

// ReturnsPtr is false: gorgonia must not write into the result.
func (op *fused[F]) ReturnsPtr() bool { return false }

// CallsExtern is false: the operation is Go code.
func (op *fused[F]) CallsExtern() bool { return false }

// OverwritesInput is −1: no input is overwritten.
func (op *fused[F]) OverwritesInput() int { return -1 }

// WriteHash writes the name.
func (op *fused[F]) WriteHash(h hash.Hash) { fmt.Fprint(h, op.name) }

// Hashcode is the hash of the name.
func (op *fused[F]) Hashcode() uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}

// String is the name.
func (op *fused[F]) String() string { return op.name }

var _ gorgonia.SDOp = (*fused[float32])(nil)

// DiffWRT reports that all inputs have a gradient: what has none is not a node.
func (op *fused[F]) DiffWRT(inputs int) []bool {
	differentiable := make([]bool, inputs)
	for i := range differentiable {
		differentiable[i] = op.grad != nil
	}
	return differentiable
}

// SymDiff adds one node that computes the gradients of all inputs into one
// vector, and a node for each input that copies its part.
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

// gradient returns the operation whose result is the concatenated gradients of
// op's inputs, and whose last input is the gradient of op's result.
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

// part copies a part of a vector into a separate tensor, which gorgonia may add
// to.
func part[F blas.Float](joint *gorgonia.Node, i, offset int, shape tensor.Shape) *fused[F] {
	cut := newFused(fmt.Sprintf("part %d of %v", i, joint.Op()), make([]F, shape.TotalSize()), shape.Clone(), joint)
	cut.run = func(in [][]F, values []F) error {
		copy(values, in[0][offset:])
		return nil
	}
	return cut
}
