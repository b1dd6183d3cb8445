package vector

import "gonum.org/v1/gonum/blas/gonum"

// Fastest returns the float32 arithmetic with the vector kernels, if this
// processor has AVX2 and FMA; otherwise Portable.
func Fastest() Arithmetic[float32] {
	if hasKernels() {
		return kernels{}
	}
	return Portable[float32]{}
}

// BLAS is gonum's implementation of all levels, with Sgemm by vector kernels
// where the processor has them. Its zero value is ready to use.
type BLAS struct{ gonum.Implementation }
