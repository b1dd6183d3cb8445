// Package vector does the arithmetic of the policy on slices: matrix products,
// the gates of a GRU cell and their gradients, exponentials and steps of Adam.
//
// [Arithmetic] is the list of what the network needs, for float32 and float64.
// There are two implementations:
//
//   - [Portable] is plain Go over gonum's BLAS. It works on every machine and in
//     both precisions; float64 serves the tests.
//   - [Fastest] picks AVX2 and FMA kernels for float32 where the processor has
//     them, and Portable elsewhere. Matrix products use AVX-512 where they can.
//
// The kernels are Go assembly, written by the generator in folder gen with
// mmcloughlin/avo; "go generate" makes kernels_amd64.s and its stubs anew. Each
// is tested against Portable, and the product against gonum for all
// transpositions and for odd sizes.
//
// [BLAS] is gonum's implementation with Sgemm replaced. It has no state, so any
// number of networks can use it at once. It is handed to who needs it:
// gorgonia.Use would change the product of the whole process.
package vector

//go:generate go run -tags avo ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg vector
