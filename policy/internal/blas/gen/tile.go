//go:build avo

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width is a size of vector registers.
type width struct {
	name   string
	bytes  int
	rows   int // height of the largest tile: its accumulators leave room for operands
	vector func() reg.VecVirtual
}

// widths returns AVX2's 16 registers, of which 6 rows of two take 12, and
// AVX-512's 32, of which 12 rows of two take 24.
func widths() []width {
	return []width{{"AVX2", 32, 6, YMM}, {"AVX-512", 64, 12, ZMM}}
}

// tile writes the product of a strip of rows × k with a panel of k × two
// vectors.
func tile(rows int, w width) {
	columns := 2 * w.bytes / 4
	TEXT(fmt.Sprintf("tile%dx%d", rows, columns), NOSPLIT,
		"func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int, sum bool)")
	Pragma("noescape")
	Doc(fmt.Sprintf("tile%dx%d sets (or, with sum, increases) a tile of c by the product of %d rows of a with %d columns of b, by %s. Strides are in bytes.", rows, columns, rows, columns, w.name))
	k := Load(Param("k"), GP64())
	a := newRowPointers(rows)
	step := Load(Param("colStride"), GP64())
	b, bStep := Load(Param("b"), GP64()), Load(Param("bStride"), GP64())
	acc := accumulators(rows, w)
	product(k, a, step, b, bStep, acc, w)
	store(acc, w)
	RET()
}

// rowPointers reaches three rows from each base register.
type rowPointers struct {
	bases  []reg.Register
	stride reg.Register
}

func newRowPointers(rows int) rowPointers {
	p := rowPointers{bases: []reg.Register{Load(Param("a"), GP64())}, stride: Load(Param("rowStride"), GP64())}
	for i := 3; i < rows; i += 3 {
		base := GP64()
		LEAQ(Mem{Base: p.bases[i/3-1], Index: p.stride, Scale: 2}, base)
		ADDQ(p.stride, base)
		p.bases = append(p.bases, base)
	}
	return p
}

func (p rowPointers) row(i int) Mem {
	m := Mem{Base: p.bases[i/3]}
	if i%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(i%3)
	}
	return m
}

func (p rowPointers) advance(by reg.Register) {
	for _, base := range p.bases {
		ADDQ(by, base)
	}
}

func accumulators(rows int, w width) [][2]reg.VecVirtual {
	acc := make([][2]reg.VecVirtual, rows)
	for i := range acc {
		acc[i] = [2]reg.VecVirtual{w.vector(), w.vector()}
		VXORPS(acc[i][0], acc[i][0], acc[i][0])
		VXORPS(acc[i][1], acc[i][1], acc[i][1])
	}
	return acc
}

func product(k reg.Register, a rowPointers, step, b, bStep reg.Register, acc [][2]reg.VecVirtual, w width) {
	Label("inner")
	left, right := w.vector(), w.vector()
	VMOVUPS(Mem{Base: b}, left)
	VMOVUPS(Mem{Base: b, Disp: w.bytes}, right)
	for i := range acc {
		x := w.vector()
		VBROADCASTSS(a.row(i), x)
		VFMADD231PS(x, left, acc[i][0])
		VFMADD231PS(x, right, acc[i][1])
	}
	a.advance(step)
	ADDQ(bStep, b)
	DECQ(k)
	JNZ(LabelRef("inner"))
}

func store(acc [][2]reg.VecVirtual, w width) {
	c, stride := Load(Param("c"), GP64()), Load(Param("cStride"), GP64())
	sum := Load(Param("sum"), GP8())
	TESTB(sum, sum)
	JZ(LabelRef("set"))
	old := GP64()
	MOVQ(c, old)
	for i := range acc {
		VADDPS(Mem{Base: old}, acc[i][0], acc[i][0])
		VADDPS(Mem{Base: old, Disp: w.bytes}, acc[i][1], acc[i][1])
		ADDQ(stride, old)
	}
	Label("set")
	for i := range acc {
		VMOVUPS(acc[i][0], Mem{Base: c})
		VMOVUPS(acc[i][1], Mem{Base: c, Disp: w.bytes})
		ADDQ(stride, c)
	}
	VZEROUPPER()
}
