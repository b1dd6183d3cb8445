package blas

import (
	"sync"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

const (
	// depth is how much of k is multiplied before the next strip, so that a
	// panel of b stays in the L1 cache.
	depth = 256
	// float is the size of a float32 in bytes.
	float = 4
)

// kernel computes a tile; see kernels_amd64.go.
type kernel func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int, sum bool)

// tiling cuts c into tiles of up to len(kernels) rows, with a kernel for each
// height, and a fixed number of columns.
type tiling struct {
	kernels []kernel
	columns int
}

func avx2Tiling() tiling {
	return tiling{[]kernel{tile1x16, tile2x16, tile3x16, tile4x16, tile5x16, tile6x16}, 16}
}

func avx512Tiling() tiling {
	return tiling{[]kernel{
		tile1x32, tile2x32, tile3x32, tile4x32, tile5x32, tile6x32,
		tile7x32, tile8x32, tile9x32, tile10x32, tile11x32, tile12x32,
	}, 32}
}

// bestTiling returns the tiling for a product with n columns.
func bestTiling(n int) tiling {
	if n > 16 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		return avx512Tiling()
	}
	return avx2Tiling()
}

// matrix is op(a) or op(b): the strides, in values, to the next row and to the
// next column of the operand as it enters the product.
type matrix struct {
	values      []float32
	row, column int
}

func operand(t blas.Transpose, values []float32, ld int) matrix {
	if t == blas.NoTrans {
		return matrix{values, ld, 1}
	}
	return matrix{values, 1, ld}
}

// at returns the address of an element.
func (m matrix) at(i, j int) *float32 { return &m.values[i*m.row+j*m.column] }

// covers reports whether the matrix has the element in the last row and column.
func (m matrix) covers(rows, columns int) bool {
	return (rows-1)*m.row+(columns-1)*m.column < len(m.values)
}

// Sgemm computes c = alpha·op(a)·op(b) + beta·c like gonum's, whose contract
// (and panics) it keeps: gonum computes what the kernels do not support.
func (Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	left, right := operand(tA, a, lda), operand(tB, b, ldb)
	out := matrix{c, ldc, 1}
	fits := m > 0 && n > 0 && k > 0 && ldc >= n && rowsFit(tA, m, k, lda) && rowsFit(tB, k, n, ldb) &&
		left.covers(m, k) && right.covers(k, n) && out.covers(m, n)
	if !fits || alpha != 1 || !hasKernels() {
		gonum.Implementation{}.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if beta != 0 && beta != 1 {
		for i := range m {
			gonum.Implementation{}.Sscal(n, beta, c[i*ldc:], 1)
		}
	}
	bestTiling(n).multiply(left, right, out, m, n, k, beta != 0)
}

// rowsFit reports whether a transposition is valid and the stored rows are long
// enough for the operand.
func rowsFit(t blas.Transpose, rows, columns, ld int) bool {
	switch t {
	case blas.NoTrans:
		return ld >= columns
	case blas.Trans, blas.ConjTrans:
		return ld >= rows
	}
	return false
}

// scratch is the memory of one product: a packed panel of b, and a tile for
// results beyond the last column of c.
type scratch struct {
	panel [depth * 32]float32
	tile  [12 * 32]float32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// multiply iterates over panels of b and strips of a. With sum, it adds to c
// instead of setting it.
func (g tiling) multiply(a, b, c matrix, m, n, k int, sum bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for from := 0; from < k; from += depth {
		deep := min(depth, k-from)
		for j := 0; j < n; j += g.columns {
			p := g.take(s, b, from, j, deep, min(g.columns, n-j))
			for i := 0; i < m; i += len(g.kernels) {
				g.strip(s, a, p, c, block{i, j, from, deep}, min(len(g.kernels), m-i), min(g.columns, n-j), sum || from > 0)
			}
		}
	}
}

// take returns a panel of b with the given number of rows. Contiguous panels are
// used in place; others are packed and padded with zeros.
func (g tiling) take(s *scratch, b matrix, from, j, deep, columns int) matrix {
	if b.column == 1 && columns == g.columns {
		return matrix{b.values[from*b.row+j:], b.row, 1}
	}
	if columns < g.columns {
		clear(s.panel[:deep*g.columns])
	}
	for column := range columns {
		src := b.values[from*b.row+(j+column)*b.column:]
		for i := range deep {
			s.panel[i*g.columns+column] = src[i*b.row]
		}
	}
	return matrix{s.panel[:], g.columns, 1}
}

// block is the row and column of a tile in c, and the range of k to multiply.
type block struct{ i, j, from, deep int }

// strip computes one tile of c. Where c has fewer columns left than a tile, it
// computes into the scratch tile and copies.
func (g tiling) strip(s *scratch, a, p, c matrix, at block, rows, columns int, sum bool) {
	run := g.kernels[rows-1]
	from, b := a.at(at.i, at.from), &p.values[0]
	if columns == g.columns {
		run(at.deep, from, a.row*float, a.column*float, b, p.row*float, c.at(at.i, at.j), c.row*float, sum)
		return
	}
	run(at.deep, from, a.row*float, a.column*float, b, p.row*float, &s.tile[0], g.columns*float, false)
	for r := range rows {
		dst := c.values[(at.i+r)*c.row+at.j:][:columns]
		src := s.tile[r*g.columns:][:columns]
		if !sum {
			clear(dst)
		}
		for x, v := range src {
			dst[x] += v
		}
	}
}
