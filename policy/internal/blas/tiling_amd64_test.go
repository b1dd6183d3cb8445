package blas

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestTilingsEqualGonum multiplies by each tiling, whatever Sgemm would pick, in
// heights and widths around those of the tiles.
func TestTilingsEqualGonum(t *testing.T) {
	if !hasKernels() {
		t.Log("this processor has no AVX2: not run")
		return
	}
	for name, g := range map[string]tiling{"AVX2": avx2Tiling(), "AVX-512": avx512Tiling()} {
		t.Run(name, func(t *testing.T) {
			if name == "AVX-512" && (!cpu.X86.HasAVX512F || !cpu.X86.HasAVX512DQ) {
				t.Log("this processor has no AVX-512: not run")
				return
			}
			for m := 1; m <= 14; m++ {
				for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 64} {
					for _, k := range []int{1, 7, 256, 300} {
						t.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(t *testing.T) { compareTiling(t, g, m, n, k) })
					}
				}
			}
		})
	}
}

// compareTiling adds a·bᵀ, then sets a·b.
func compareTiling(t *testing.T, g tiling, m, n, k int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(m*n), uint64(k)))
	a, b, want := draw(rng, m*k), draw(rng, k*n), draw(rng, m*n)
	got := append([]float32(nil), want...)
	out := matrix{got, n, 1}
	g.multiply(matrix{a, k, 1}, matrix{b, 1, k}, out, m, n, k, true)
	Portable[float32]{}.Gemm(Product{TransB: true, M: m, N: n, K: k}, a, b, 1, want)
	if d := far(got, want); d > rounding(k) {
		t.Errorf("the sum differs from gonum by %g", d)
	}
	g.multiply(matrix{a, k, 1}, matrix{b, n, 1}, out, m, n, k, false)
	Portable[float32]{}.Gemm(Product{M: m, N: n, K: k}, a, b, 0, want)
	if d := far(got, want); d > rounding(k) {
		t.Errorf("the product differs from gonum by %g", d)
	}
}
