//go:build avo

// Command gen writes the AVX2 and FMA kernels of package blas: the tiles of
// the matrix product, the gates of the GRU cell and their gradients, the
// exponential and the step of Adam. It is built by go generate only, under the
// tag avo, so that the module builds without the assembler generator.
package main
