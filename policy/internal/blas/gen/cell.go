//go:build avo

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cursor walks rows of d values by one index register, eight values a step.
type cursor struct{ at, end, width reg.Register }

// newCursor starts at 0. The width of a gate is in bytes, the end in values.
func newCursor() cursor {
	c := cursor{at: GP64(), end: Load(Param("n"), GP64()), width: Load(Param("d"), GP64())}
	XORQ(c.at, c.at)
	SHLQ(Imm(2), c.width)
	return c
}

// gates returns pointers to the three gates of a row of 3·d values.
func (c cursor) gates(param string) [3]reg.Register {
	r := Load(Param(param), GP64())
	z, n := GP64(), GP64()
	LEAQ(Mem{Base: r, Index: c.width, Scale: 1}, z)
	LEAQ(Mem{Base: r, Index: c.width, Scale: 2}, n)
	return [3]reg.Register{r, z, n}
}

func (c cursor) mem(base reg.Register) Mem { return Mem{Base: base, Index: c.at, Scale: 4} }

func (c cursor) load(base reg.Register) reg.VecVirtual {
	x := YMM()
	VMOVUPS(c.mem(base), x)
	return x
}

// at returns the memory of a parameter's row, whose pointer is loaded anew:
// the kernels have more rows than there are registers.
func (c cursor) param(name string) Mem { return c.mem(Load(Param(name), GP64())) }

func (c cursor) next(label string) {
	ADDQ(Imm(8), c.at)
	CMPQ(c.at, c.end)
	JLT(LabelRef(label))
	VZEROUPPER()
	RET()
}

// cell writes one row of a GRU step.
func cell(k constants) {
	TEXT("cell8", NOSPLIT, "func(n, d int, in, rec, bias, h, r, z, cand, hidden, out *float32)")
	Pragma("noescape")
	Doc("cell8 computes the first n values of one row of a GRU step; n is a positive multiple of 8, d the width of a gate.")
	c := newCursor()
	in := c.gates("in")
	rec := c.gates("rec")
	bias := c.gates("bias")
	Label("loop")
	gate := func(i int, name string) reg.VecVirtual {
		x := c.load(in[i])
		VADDPS(c.mem(rec[i]), x, x)
		VADDPS(c.mem(bias[i]), x, x)
		k.sigmoid(x)
		VMOVUPS(x, c.param(name))
		return x
	}
	r, z := gate(0, "r"), gate(1, "z")
	hidden := c.load(rec[2])
	VADDPS(c.mem(bias[2]), hidden, hidden)
	VMOVUPS(hidden, c.param("hidden"))
	VFMADD213PS(c.mem(in[2]), hidden, r)
	k.tanh(r)
	VMOVUPS(r, c.param("cand"))
	h := YMM()
	VMOVUPS(c.param("h"), h)
	VSUBPS(r, h, h)
	VFMADD213PS(r, z, h)
	VMOVUPS(h, c.param("out"))
	c.next("loop")
}

// cellGrad writes one row of the gradient of a GRU step.
func cellGrad(k constants) {
	TEXT("cellGrad8", NOSPLIT, "func(n, d int, dh, h, r, z, cand, hidden, dRec, dCand *float32)")
	Pragma("noescape")
	Doc("cellGrad8 computes the first n values of one row of the gradient of a GRU step; dh becomes the part that reaches h through z.")
	c := newCursor()
	dRec := c.gates("dRec")
	one := YMM()
	VMOVUPS(k.one, one)
	Label("loop")
	dh, h, r, z, cand := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPS(c.param("dh"), dh)
	VMOVUPS(c.param("h"), h)
	VMOVUPS(c.param("r"), r)
	VMOVUPS(c.param("z"), z)
	VMOVUPS(c.param("cand"), cand)
	rest, dz, dn, dr := YMM(), YMM(), YMM(), YMM()
	VSUBPS(z, one, rest) // 1 − z
	VSUBPS(cand, h, dz)  // dz = dh·(h − n)·z·(1 − z)
	VMULPS(dh, dz, dz)
	VMULPS(z, dz, dz)
	VMULPS(rest, dz, dz)
	VMOVUPS(dz, c.mem(dRec[1]))
	VMOVAPS(one, dn) // dn = dh·(1 − z)·(1 − n²)
	VFNMADD231PS(cand, cand, dn)
	VMULPS(rest, dn, dn)
	VMULPS(dh, dn, dn)
	VMOVUPS(dn, c.param("dCand"))
	VMULPS(z, dh, dh)
	VMOVUPS(dh, c.param("dh"))
	VSUBPS(r, one, dr) // dr = dn·hidden·r·(1 − r)
	VMULPS(r, dn, dn)
	VMOVUPS(dn, c.mem(dRec[2]))
	VMULPS(dn, dr, dr)
	VMULPS(c.param("hidden"), dr, dr)
	VMOVUPS(dr, c.mem(dRec[0]))
	c.next("loop")
}
