package vector

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

const (
	tileRows    = 6
	tileColumns = 16
	// depth is how much of k is multiplied before the next strip: a panel of
	// depth × 16 floats is 16 kB, which leaves room for a's rows in the first
	// cache.
	depth = 256
	// float is the size of a value in bytes.
	float = 4
)

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

// covers says whether the element in the last row and column is there.
func (m matrix) covers(rows, columns int) bool {
	return (rows-1)*m.row+(columns-1)*m.column < len(m.values)
}

// Sgemm computes c = alpha·op(a)·op(b) + beta·c like gonum's, whose contract
// (and panics) it keeps: what the kernels do not take goes there.
func (BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
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
	multiply(left, right, out, m, n, k, beta != 0)
}

// rowsFit says whether a transposition is known and the stored rows are as
// long as the operand needs.
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
// what hangs over c's edge.
type scratch struct {
	panel [depth * tileColumns]float32
	tile  [tileRows * tileColumns]float32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// multiply goes panel by panel through b and strip by strip through a. With
// sum, c is increased instead of set.
func multiply(a, b, c matrix, m, n, k int, sum bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for from := 0; from < k; from += depth {
		deep := min(depth, k-from)
		for j := 0; j < n; j += tileColumns {
			p := s.take(b, from, j, deep, min(tileColumns, n-j))
			for i := 0; i < m; i += tileRows {
				s.strip(a, p, c, i, j, from, deep, min(tileRows, m-i), min(tileColumns, n-j), sum || from > 0)
			}
		}
	}
}

// take returns a panel of b, deep × 16: where its rows lie without gaps it is
// used in place, otherwise it is packed, and filled up with zeros.
func (s *scratch) take(b matrix, from, j, deep, columns int) matrix {
	if b.column == 1 && columns == tileColumns {
		return matrix{b.values[from*b.row+j:], b.row, 1}
	}
	if columns < tileColumns {
		clear(s.panel[:deep*tileColumns])
	}
	for column := range columns {
		src := b.values[from*b.row+(j+column)*b.column:]
		for i := range deep {
			s.panel[i*tileColumns+column] = src[i*b.row]
		}
	}
	return matrix{s.panel[:], tileColumns, 1}
}

// strip computes one tile of c, by way of the scratch tile where c has fewer
// than 16 columns left.
func (s *scratch) strip(a, p, c matrix, i, j, from, deep, rows, columns int, sum bool) {
	if columns == tileColumns {
		tile(rows, deep, a.at(i, from), a, p, c.at(i, j), c.row, sum)
		return
	}
	tile(rows, deep, a.at(i, from), a, p, &s.tile[0], tileColumns, false)
	for r := range rows {
		dst := c.values[(i+r)*c.row+j:][:columns]
		src := s.tile[r*tileColumns:][:columns]
		if !sum {
			clear(dst)
		}
		for x, v := range src {
			dst[x] += v
		}
	}
}

// tile calls the kernel of a height.
func tile(rows, deep int, at *float32, a, p matrix, c *float32, ldc int, sum bool) {
	b := &p.values[0]
	switch rows {
	case 1:
		tile1x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	case 2:
		tile2x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	case 3:
		tile3x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	case 4:
		tile4x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	case 5:
		tile5x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	default:
		tile6x16(deep, at, a.row*float, a.column*float, b, p.row*float, c, ldc*float, sum)
	}
}
