//go:build avo

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants are those of the exponential: exp(x) = 2ⁿ·exp(f) with
// n = round(x·log₂e) and f = x − n·ln 2 in two parts, exp(f) by the polynomial
// of Cephes' expf (Moshier, 1992), whose relative error is below 2e-7.
type constants struct {
	low, high, log2e, ln2a, ln2b, one, two, bias Mem
	poly                                         []Mem
}

func newConstants() constants {
	var c constants
	offset := 0
	at := GLOBL("expConstants", RODATA|NOPTR)
	put := func(bits uint32) Mem {
		m := at.Offset(offset)
		for range 8 {
			DATA(offset, U32(bits))
			offset += 4
		}
		return m
	}
	// As bits: the assembler would read a float without decimals as an integer.
	real := func(v float32) Mem { return put(math.Float32bits(v)) }
	c.low, c.high = real(-87.3365), real(88.3762)
	c.log2e, c.ln2a, c.ln2b = real(1.44269504088896341), real(0.693359375), real(-2.12194440e-4)
	c.one, c.two, c.bias = real(1), real(2), put(127)
	for _, p := range []float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		c.poly = append(c.poly, real(p))
	}
	return c
}

// exp replaces x by its exponential. A NaN stays one: minimum and maximum
// return their second source when either is NaN, and x is that one.
func (c constants) exp(x reg.VecVirtual) {
	limit, n, y, square := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(c.high, limit)
	VMINPS(x, limit, x)
	VMOVUPS(c.low, limit)
	VMAXPS(x, limit, x)
	VMULPS(c.log2e, x, n)
	VROUNDPS(Imm(0), n, n)
	VFNMADD231PS(c.ln2a, n, x)
	VFNMADD231PS(c.ln2b, n, x)
	VMULPS(x, x, square)
	VMOVUPS(c.poly[0], y)
	for _, p := range c.poly[1:] {
		VFMADD213PS(p, x, y)
	}
	VFMADD213PS(x, square, y)
	VADDPS(c.one, y, y)
	VCVTPS2DQ(n, n)
	VPADDD(c.bias, n, n)
	VPSLLD(Imm(23), n, n)
	VMULPS(n, y, x)
}

// sigmoid replaces x by 1 ÷ (1 + exp(−x)).
func (c constants) sigmoid(x reg.VecVirtual) {
	zero, one := YMM(), YMM()
	VXORPS(zero, zero, zero)
	VSUBPS(x, zero, x)
	c.exp(x)
	VMOVUPS(c.one, one)
	VADDPS(one, x, x)
	VDIVPS(x, one, x)
}

// tanh replaces x by 1 − 2 ÷ (1 + exp(2x)).
func (c constants) tanh(x reg.VecVirtual) {
	one, two := YMM(), YMM()
	VADDPS(x, x, x)
	c.exp(x)
	VMOVUPS(c.one, one)
	VMOVUPS(c.two, two)
	VADDPS(one, x, x)
	VDIVPS(x, two, x)
	VSUBPS(x, one, x)
}

// exponential writes the kernel dst = exp(src).
func exponential(c constants) {
	TEXT("exp8", NOSPLIT, "func(n int, dst, src *float32)")
	Pragma("noescape")
	Doc("exp8 sets dst to the exponentials of src; n is a positive multiple of 8.")
	n, dst, src := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	at := GP64()
	XORQ(at, at)
	Label("loop")
	x := YMM()
	VMOVUPS(Mem{Base: src, Index: at, Scale: 4}, x)
	c.exp(x)
	VMOVUPS(x, Mem{Base: dst, Index: at, Scale: 4})
	ADDQ(Imm(8), at)
	CMPQ(at, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
