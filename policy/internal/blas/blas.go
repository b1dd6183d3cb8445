package blas

import "gonum.org/v1/gonum/blas/gonum"

// Fastest returns the float32 arithmetic with vector kernels if the processor
// has AVX2 and FMA; otherwise Portable.
func Fastest() Arithmetic[float32] {
	if hasKernels() {
		return kernels{}
	}
	return Portable[float32]{}
}

// Implementation is gonum's implementation of all BLAS levels, with Sgemm by
// vector kernels where the processor has them. Its zero value is ready to use.
type Implementation struct{ gonum.Implementation }

// Float is a precision of a network: float32 for training and acting, float64
// for tests.
type Float interface{ float32 | float64 }

// Arithmetic is the set of operations of a network. Matrices are row-major. All
// methods are safe for concurrent use and panic if a slice is too short.
type Arithmetic[F Float] interface {
	// Gemm sets c (m×n) to op(a)·op(b) + beta·c, where op transposes on demand:
	// op(a) is m×k and op(b) is k×n.
	Gemm(p Product, a, b []F, beta F, c []F)
	// GRUCell makes one step of a GRU for one row.
	GRUCell(c GRUCell[F])
	// GRUCellGrad makes one step of its gradient for one row.
	GRUCellGrad(c GRUCellGrad[F])
	// Add adds src to dst.
	Add(dst, src []F)
	// Exp sets dst to the exponentials of src; the two may be the same slice.
	// Results outside of the range of float32 may be its largest number instead of
	// +Inf, and its smallest normal number instead of 0; NaN stays NaN.
	Exp(dst, src []F)
	// Adam makes one step of Adam.
	Adam(a Adam[F])
}

// Product gives the sizes of a matrix product of matrices without gaps between
// rows.
type Product struct {
	TransA, TransB bool
	M, N, K        int
}

// GRUCell holds one row of a GRU step (PyTorch's gate order r, z, n):
//
//	r = σ(In_r + Rec_r + Bias_r)          z = σ(In_z + Rec_z + Bias_z)
//	hidden = Rec_n + Bias_n               cand = tanh(In_n + r·hidden)
//	out = (1 − z)·cand + z·h
//
// In, Rec and Bias have 3d values, the rest d.
type GRUCell[F Float] struct {
	In, Rec, Bias, H           []F
	R, Z, Cand, Hidden, Output []F
}

// GRUCellGrad holds one row of the gradient of a GRU step. Given DH, the gradient
// of the output, and what [GRUCell] computed, it sets DRec (3d values), the
// gradient of Rec and Bias, and DCand (d values), the gradient of In_n; the
// gradients of In_r and In_z equal those of Rec. DH becomes the part of the
// gradient of H that does not go through Rec.
type GRUCellGrad[F Float] struct {
	DH                    []F
	H, R, Z, Cand, Hidden []F
	DRec, DCand           []F
}

// Adam holds one step (Kingma and Ba, 2015, with the bias corrections folded
// into Rate and Root, as PyTorch does it):
//
//	g = Scale·Grad
//	Mean = Beta1·Mean + (1 − Beta1)·g     Square = Beta2·Square + (1 − Beta2)·g²
//	Value = Value − Rate·Mean ÷ (√Square·Root + Eps)
//
// with Rate = rate ÷ (1 − Beta1^t) and Root = 1 ÷ √(1 − Beta2^t).
type Adam[F Float] struct {
	Value, Grad, Mean, Square                []F
	Scale, Beta1, Beta2, Rate, Root, Epsilon float64
}
