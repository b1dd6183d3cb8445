//go:build avo

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileRows is the height of the largest tile: 6 rows of two vectors need 12
// accumulators, which leaves four of the sixteen registers for operands.
const tileRows = 6

// tile writes the product of a strip of rows × k with a panel of k × 16.
func tile(rows int) {
	TEXT(fmt.Sprintf("tile%dx16", rows), NOSPLIT,
		"func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int, sum bool)")
	Doc(fmt.Sprintf("tile%dx16 sets (or, with sum, increases) a tile of c by the product of %d rows of a with 16 columns of b. Strides are in bytes.", rows, rows))
	k := Load(Param("k"), GP64())
	a := rowPointers{base: Load(Param("a"), GP64()), stride: Load(Param("rowStride"), GP64())}
	step := Load(Param("colStride"), GP64())
	if rows > 3 {
		a.fourth = GP64()
		LEAQ(Mem{Base: a.base, Index: a.stride, Scale: 2}, a.fourth)
		ADDQ(a.stride, a.fourth)
	}
	b, bStep := Load(Param("b"), GP64()), Load(Param("bStride"), GP64())
	acc := accumulators(rows)
	product(k, a, step, b, bStep, acc)
	store(acc)
	RET()
}

// rowPointers reaches up to six rows from two base registers.
type rowPointers struct{ base, stride, fourth reg.Register }

func (p rowPointers) row(i int) Mem {
	from := p.base
	if i >= 3 {
		from = p.fourth
	}
	m := Mem{Base: from}
	if i%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(i%3)
	}
	return m
}

func (p rowPointers) advance(by reg.Register) {
	ADDQ(by, p.base)
	if p.fourth != nil {
		ADDQ(by, p.fourth)
	}
}

func accumulators(rows int) [][2]reg.VecVirtual {
	acc := make([][2]reg.VecVirtual, rows)
	for i := range acc {
		acc[i] = [2]reg.VecVirtual{YMM(), YMM()}
		VXORPS(acc[i][0], acc[i][0], acc[i][0])
		VXORPS(acc[i][1], acc[i][1], acc[i][1])
	}
	return acc
}

func product(k reg.Register, a rowPointers, step, b, bStep reg.Register, acc [][2]reg.VecVirtual) {
	Label("inner")
	left, right := YMM(), YMM()
	VMOVUPS(Mem{Base: b}, left)
	VMOVUPS(Mem{Base: b, Disp: 32}, right)
	for i := range acc {
		x := YMM()
		VBROADCASTSS(a.row(i), x)
		VFMADD231PS(x, left, acc[i][0])
		VFMADD231PS(x, right, acc[i][1])
	}
	a.advance(step)
	ADDQ(bStep, b)
	DECQ(k)
	JNZ(LabelRef("inner"))
}

func store(acc [][2]reg.VecVirtual) {
	c, stride := Load(Param("c"), GP64()), Load(Param("cStride"), GP64())
	sum := Load(Param("sum"), GP8())
	TESTB(sum, sum)
	JZ(LabelRef("set"))
	old := GP64()
	MOVQ(c, old)
	for i := range acc {
		VADDPS(Mem{Base: old}, acc[i][0], acc[i][0])
		VADDPS(Mem{Base: old, Disp: 32}, acc[i][1], acc[i][1])
		ADDQ(stride, old)
	}
	Label("set")
	for i := range acc {
		VMOVUPS(acc[i][0], Mem{Base: c})
		VMOVUPS(acc[i][1], Mem{Base: c, Disp: 32})
		ADDQ(stride, c)
	}
	VZEROUPPER()
}
