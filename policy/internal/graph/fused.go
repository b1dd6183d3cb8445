package graph

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"toolgym/policy/internal/vector"
)

// fused is a gorgonia operation made of plain functions over slices. Its
// results are written to memory that is used again at every run.
type fused[F vector.Float] struct {
	name   string // unique in the graph: gorgonia merges nodes that look alike
	inputs []tensor.Shape
	out    *tensor.Dense
	values []F // the memory of out
	// run sets values, given the inputs.
	run func(in [][]F, values []F) error
	// grad sets the gradients of the inputs, given the inputs and the gradient
	// of the result. It is nil for operations that are themselves gradients.
	grad func(in [][]F, d []F, grads [][]F)
	// scalar says that the result is a single number instead of a tensor.
	scalar bool
}

// newFused returns an operation that writes to values, which have a shape.
func newFused[F vector.Float](name string, values []F, shape tensor.Shape, inputs ...*gorgonia.Node) *fused[F] {
	op := &fused[F]{name: name, values: values, out: dense(values, shape)}
	for _, n := range inputs {
		op.inputs = append(op.inputs, n.Shape().Clone())
	}
	return op
}

func dense[F vector.Float](values []F, shape tensor.Shape) *tensor.Dense {
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

// InferShape knows the shape from the start: the graph is static.
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
func sliceOf[F vector.Float](v gorgonia.Value) ([]F, error) {
	switch data := v.Data().(type) {
	case []F:
		return data, nil
	case F:
		return []F{data}, nil
	default:
		return nil, fmt.Errorf("a value of type %T", data)
	}
}

func number[F vector.Float](x F) gorgonia.Value {
	if single, ok := any(x).(float32); ok {
		return gorgonia.NewF32(single)
	}
	return gorgonia.NewF64(float64(x))
}

// ReturnsPtr is false: gorgonia may not write into the result.
func (op *fused[F]) ReturnsPtr() bool { return false }

// CallsExtern is false: no foreign code runs.
func (op *fused[F]) CallsExtern() bool { return false }

// OverwritesInput names no input.
func (op *fused[F]) OverwritesInput() int { return -1 }

// WriteHash tells operations apart by name.
func (op *fused[F]) WriteHash(h hash.Hash) { fmt.Fprint(h, op.name) }

// Hashcode is the hash of the name.
func (op *fused[F]) Hashcode() uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}

// String is the name.
func (op *fused[F]) String() string { return op.name }
