//go:build !amd64

package blas

// kernels stands for the vector kernels, which this architecture lacks.
type kernels struct{ Portable[float32] }

func hasKernels() bool { return false }
