//go:build avo

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// add writes the kernel dst += src.
func add() {
	TEXT("add8", NOSPLIT, "func(n int, dst, src *float32)")
	Pragma("noescape")
	Doc("add8 adds src to dst; n is a positive multiple of 8.")
	n, dst, src := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	at := GP64()
	XORQ(at, at)
	Label("loop")
	x := YMM()
	VMOVUPS(Mem{Base: dst, Index: at, Scale: 4}, x)
	VADDPS(Mem{Base: src, Index: at, Scale: 4}, x, x)
	VMOVUPS(x, Mem{Base: dst, Index: at, Scale: 4})
	ADDQ(Imm(8), at)
	CMPQ(at, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// adam writes one step of Adam over n values.
func adam() {
	TEXT("adam8", NOSPLIT, "func(n int, value, grad, mean, square *float32, scale, keepMean, newMean, keepSquare, newSquare, rate, root, eps float32)")
	Pragma("noescape")
	Doc("adam8 makes one step of Adam over n values, a positive multiple of 8: the gradient is scaled first.")
	n := Load(Param("n"), GP64())
	value, grad := Load(Param("value"), GP64()), Load(Param("grad"), GP64())
	mean, square := Load(Param("mean"), GP64()), Load(Param("square"), GP64())
	wide := func(name string) reg.VecVirtual {
		x := YMM()
		m, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		VBROADCASTSS(m.Addr, x)
		return x
	}
	scale, keepMean, newMean := wide("scale"), wide("keepMean"), wide("newMean")
	keepSquare, newSquare := wide("keepSquare"), wide("newSquare")
	rate, root, eps := wide("rate"), wide("root"), wide("eps")
	at := GP64()
	XORQ(at, at)
	Label("loop")
	g, m, v, p := YMM(), YMM(), YMM(), YMM()
	mem := func(base reg.Register) Mem { return Mem{Base: base, Index: at, Scale: 4} }
	VMULPS(mem(grad), scale, g)
	VMULPS(mem(mean), keepMean, m)
	VFMADD231PS(g, newMean, m)
	VMOVUPS(m, mem(mean))
	VMULPS(g, g, g)
	VMULPS(mem(square), keepSquare, v)
	VFMADD231PS(g, newSquare, v)
	VMOVUPS(v, mem(square))
	VSQRTPS(v, v)
	VFMADD213PS(eps, root, v) // √square·root + ε
	VDIVPS(v, m, m)
	VMOVUPS(mem(value), p)
	VFNMADD231PS(m, rate, p)
	VMOVUPS(p, mem(value))
	ADDQ(Imm(8), at)
	CMPQ(at, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
