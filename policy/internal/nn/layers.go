package nn

import "toolgym/policy/internal/blas"

// Apply sets y (rows, out) to x·Weightᵀ + Bias for x (rows, in).
func (l Linear[F]) Apply(k blas.Arithmetic[F], x, y []F) {
	out := len(l.Bias)
	in := len(l.Weight) / out
	for i := 0; i < len(y); i += out {
		copy(y[i:i+out], l.Bias)
	}
	k.Gemm(blas.Product{TransB: true, M: len(y) / out, N: out, K: in}, x, l.Weight, 1, y)
}

// Grad sets dx (rows, in) and the gradients of the weights, given dy (rows, out),
// the gradient of y.
func (l Linear[F]) Grad(k blas.Arithmetic[F], x, dy, dx []F, grad Linear[F]) {
	out := len(l.Bias)
	in := len(l.Weight) / out
	rows := len(dy) / out
	k.Gemm(blas.Product{M: rows, N: in, K: out}, dy, l.Weight, 0, dx)
	k.Gemm(blas.Product{TransA: true, M: out, N: in, K: rows}, dy, x, 0, grad.Weight)
	clear(grad.Bias)
	for i := 0; i < len(dy); i += out {
		k.Add(grad.Bias, dy[i:i+out])
	}
}

// EmbeddingBag is a mean of embeddings: row b of its result is the mean of the
// table's rows tokens[b·Width : (b+1)·Width], without padding. With Shared, every
// row is the mean of all rows' means, as the published tutorial computes it.
type EmbeddingBag[F blas.Float] struct {
	Width, Dim int
	Shared     bool
}

// Apply sets out (rows, Dim).
func (g EmbeddingBag[F]) Apply(k blas.Arithmetic[F], table []F, tokens []int, out []F) {
	rows := len(tokens) / g.Width
	clear(out[:rows*g.Dim])
	for b := range rows {
		row := out[b*g.Dim : (b+1)*g.Dim]
		bag := tokens[b*g.Width : (b+1)*g.Width]
		for _, token := range bag {
			if token >= 0 {
				k.Add(row, table[token*g.Dim:(token+1)*g.Dim])
			}
		}
		scale(row, 1/F(filled(bag)))
	}
	if g.Shared {
		g.share(k, out[:rows*g.Dim])
	}
}

// share sets every row to the mean of the rows.
func (g EmbeddingBag[F]) share(k blas.Arithmetic[F], rows []F) {
	first := rows[:g.Dim]
	for i := g.Dim; i < len(rows); i += g.Dim {
		k.Add(first, rows[i:i+g.Dim])
	}
	scale(first, F(g.Dim)/F(len(rows)))
	for i := g.Dim; i < len(rows); i += g.Dim {
		copy(rows[i:], first)
	}
}

// Grad sets dTable, the gradient of the table, given dOut, that of the result,
// which it overwrites.
func (g EmbeddingBag[F]) Grad(k blas.Arithmetic[F], tokens []int, dOut, dTable []F) {
	if g.Shared {
		g.share(k, dOut)
	}
	clear(dTable)
	for b := range len(tokens) / g.Width {
		row := dOut[b*g.Dim : (b+1)*g.Dim]
		bag := tokens[b*g.Width : (b+1)*g.Width]
		scale(row, 1/F(filled(bag)))
		for _, token := range bag {
			if token >= 0 {
				k.Add(dTable[token*g.Dim:(token+1)*g.Dim], row)
			}
		}
	}
}

// filled returns the number of tokens that are not padding, at least 1, so that
// the mean of an empty bag is zero.
func filled(bag []int) int {
	n := 0
	for _, token := range bag {
		if token >= 0 {
			n++
		}
	}
	return max(n, 1)
}

func scale[F blas.Float](x []F, by F) {
	for i := range x {
		x[i] *= by
	}
}
