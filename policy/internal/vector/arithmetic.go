package vector

// Float is a precision the network works in: float32 to train and act, float64
// to be checked.
type Float interface{ float32 | float64 }

// Arithmetic is what the network computes with. Matrices are row-major; all
// methods may be used by several goroutines at once and panic if a slice is
// too short.
type Arithmetic[F Float] interface {
	// Gemm sets c (m×n) to op(a)·op(b) + beta·c, where op transposes on demand:
	// op(a) is m×k and op(b) is k×n.
	Gemm(p Product, a, b []F, beta F, c []F)
	// Cell makes one step of a GRU for one row.
	Cell(c Cell[F])
	// CellGrad makes one step of its gradient for one row.
	CellGrad(c CellGrad[F])
	// Add adds src to dst.
	Add(dst, src []F)
	// Exp sets dst to the exponentials of src; the two may be the same slice. What
	// lies beyond float32 may become its largest number in place of +Inf, and its
	// least normal one in place of 0; NaN stays NaN.
	Exp(dst, src []F)
	// Adam makes one step of Adam.
	Adam(a Adam[F])
}

// Product names the sizes of a matrix product without gaps between rows.
type Product struct {
	TransA, TransB bool
	M, N, K        int
}

// Cell holds one row of a GRU step (PyTorch's gate order r, z, n):
//
//	r = σ(In_r + Rec_r + Bias_r)          z = σ(In_z + Rec_z + Bias_z)
//	hidden = Rec_n + Bias_n               cand = tanh(In_n + r·hidden)
//	out = (1 − z)·cand + z·h
//
// In, Rec and Bias have 3d values, the rest d.
type Cell[F Float] struct {
	In, Rec, Bias, H           []F
	R, Z, Cand, Hidden, Output []F
}

// CellGrad holds one row of the gradient of a GRU step. Given DH, the gradient
// of the output, and what [Cell] computed, it sets DRec (3d values), the
// gradient of Rec and Bias, and DCand (d values), the gradient of In_n; the
// gradients of In_r and In_z are those of Rec. DH becomes the part of the
// gradient of H that does not pass Rec.
type CellGrad[F Float] struct {
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
