package network

import "toolgym/policy/internal/vector"

// Bag is a mean of embeddings: row b of its result is the mean of the rows of
// a table that tokens[b·width : (b+1)·width] name, padding left out. With
// Shared, every row is the mean of all rows' means: what the published
// tutorial computes by a slip of broadcasting.
type Bag[F vector.Float] struct {
	Width, Dim int
	Shared     bool
}

// Apply sets out (rows × Dim).
func (g Bag[F]) Apply(k vector.Arithmetic[F], table []F, tokens []int, out []F) {
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

// share replaces every row by the mean of the rows.
func (g Bag[F]) share(k vector.Arithmetic[F], rows []F) {
	first := rows[:g.Dim]
	for i := g.Dim; i < len(rows); i += g.Dim {
		k.Add(first, rows[i:i+g.Dim])
	}
	scale(first, F(g.Dim)/F(len(rows)))
	for i := g.Dim; i < len(rows); i += g.Dim {
		copy(rows[i:], first)
	}
}

// Grad sets dTable, the gradient of the table, given dOut, that of the result.
// dOut is overwritten.
func (g Bag[F]) Grad(k vector.Arithmetic[F], tokens []int, dOut, dTable []F) {
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

// filled counts the tokens that are not padding; an empty bag counts as one,
// so that its mean is zero.
func filled(bag []int) int {
	n := 0
	for _, token := range bag {
		if token >= 0 {
			n++
		}
	}
	return max(n, 1)
}

func scale[F vector.Float](x []F, by F) {
	for i := range x {
		x[i] *= by
	}
}
