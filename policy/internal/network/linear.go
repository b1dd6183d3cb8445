package network

import "toolgym/policy/internal/vector"

// Apply sets y (rows × out) to x·Weightᵀ + Bias for x (rows × in).
func (l Linear[F]) Apply(k vector.Arithmetic[F], x, y []F) {
	out := len(l.Bias)
	in := len(l.Weight) / out
	for i := 0; i < len(y); i += out {
		copy(y[i:i+out], l.Bias)
	}
	k.Gemm(vector.Product{TransB: true, M: len(y) / out, N: out, K: in}, x, l.Weight, 1, y)
}

// Grad sets dx (rows × in) and the gradients of the weights to those that dy
// (rows × out) implies.
func (l Linear[F]) Grad(k vector.Arithmetic[F], x, dy, dx []F, grad Linear[F]) {
	out := len(l.Bias)
	in := len(l.Weight) / out
	rows := len(dy) / out
	k.Gemm(vector.Product{M: rows, N: in, K: out}, dy, l.Weight, 0, dx)
	k.Gemm(vector.Product{TransA: true, M: out, N: in, K: rows}, dy, x, 0, grad.Weight)
	clear(grad.Bias)
	for i := 0; i < len(dy); i += out {
		k.Add(grad.Bias, dy[i:i+out])
	}
}
