package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"
)

func draw(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}

// far returns the largest difference relative to 1 + |want|.
func far[F Float](got, want []F) float64 {
	worst := 0.0
	for i, w := range want {
		worst = max(worst, math.Abs(float64(got[i]-w))/(1+math.Abs(float64(w))))
		if math.IsNaN(float64(got[i])) != math.IsNaN(float64(w)) {
			return math.Inf(1)
		}
	}
	return worst
}

// rounding is how far two orders of adding k products of standard normal
// numbers may be apart in float32, with room to spare.
func rounding(k int) float64 { return 3e-7 * float64(k+10) }

func TestSgemmEqualsGonum(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {6, 16, 1}, {7, 17, 3}, {5, 15, 300}, {12, 32, 256}, {13, 33, 257}, {18, 288, 96}, {64, 18, 96}, {31, 1, 97}}
	for _, size := range sizes {
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, scale := range [][2]float32{{1, 0}, {1, 1}, {1, -0.5}, {2, 0.5}} {
					name := fmt.Sprintf("%v/%c%c/alpha %g beta %g", size, tA, tB, scale[0], scale[1])
					t.Run(name, func(t *testing.T) { compareSgemm(t, tA, tB, size, scale, 3) })
				}
			}
		}
	}
}

// compareSgemm multiplies random matrices whose rows are gap values too long
// by both implementations.
func compareSgemm(t testing.TB, tA, tB blas.Transpose, size [3]int, scale [2]float32, gap int) {
	t.Helper()
	m, n, k := size[0], size[1], size[2]
	rng := rand.New(rand.NewPCG(uint64(m*n*k), uint64(tA)<<8|uint64(tB)))
	stored := func(trans blas.Transpose, rows, columns int) ([]float32, int) {
		if trans != blas.NoTrans {
			rows, columns = columns, rows
		}
		return draw(rng, (rows-1)*(columns+gap)+columns), columns + gap
	}
	a, lda := stored(tA, m, k)
	b, ldb := stored(tB, k, n)
	want, ldc := stored(blas.NoTrans, m, n)
	got := append([]float32(nil), want...)
	Implementation{}.Sgemm(tA, tB, m, n, k, scale[0], a, lda, b, ldb, scale[1], got, ldc)
	gonum.Implementation{}.Sgemm(tA, tB, m, n, k, scale[0], a, lda, b, ldb, scale[1], want, ldc)
	if d := far(got, want); d > rounding(k) {
		t.Errorf("differs from gonum by %g", d)
	}
}

func TestSgemmAnySize(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		side := rapid.IntRange(1, 40)
		trans := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans})
		size := [3]int{side.Draw(r, "m"), side.Draw(r, "n"), rapid.IntRange(1, 600).Draw(r, "k")}
		m, n, k := size[0], size[1], size[2]
		rng := rand.New(rand.NewPCG(1, uint64(m*n*k)))
		a, b, want := draw(rng, m*k), draw(rng, k*n), draw(rng, m*n)
		got := append([]float32(nil), want...)
		p := Product{trans.Draw(r, "A") == blas.Trans, trans.Draw(r, "B") == blas.Trans, m, n, k}
		Fastest().Gemm(p, a, b, 1, got)
		Portable[float32]{}.Gemm(p, a, b, 1, want)
		if d := far(got, want); d > rounding(k) {
			r.Fatalf("differs from gonum by %g", d)
		}
	})
}

func TestSgemmKeepsGonumsPanics(t *testing.T) {
	long := make([]float32, 64)
	cases := map[string]func(blas.Float32Level3){
		"unknown transposition": func(b blas.Float32Level3) { b.Sgemm('X', blas.NoTrans, 2, 2, 2, 1, long, 2, long, 2, 0, long, 2) },
		"negative size": func(b blas.Float32Level3) {
			b.Sgemm(blas.NoTrans, blas.NoTrans, -1, 2, 2, 1, long, 2, long, 2, 0, long, 2)
		},
		"short row": func(b blas.Float32Level3) {
			b.Sgemm(blas.NoTrans, blas.Trans, 2, 2, 4, 1, long, 4, long, 2, 0, long, 2)
		},
		"short a": func(b blas.Float32Level3) {
			b.Sgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, long[:3], 2, long, 2, 0, long, 2)
		},
		"short c": func(b blas.Float32Level3) {
			b.Sgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, long, 2, long, 2, 0, long[:3], 2)
		},
	}
	panics := func(f func(blas.Float32Level3), b blas.Float32Level3) (with any) {
		defer func() { with = recover() }()
		f(b)
		return nil
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			got, want := panics(f, Implementation{}), panics(f, gonum.Implementation{})
			if want == nil || got != want {
				t.Errorf("panics with %v, gonum with %v", got, want)
			}
		})
	}
}

func BenchmarkSgemm(b *testing.B) {
	cases := map[string]Product{
		"step 192x288x96":      {M: 192, N: 288, K: 96},
		"back 192x96x288":      {M: 192, N: 96, K: 288},
		"weights 288x96x1152T": {TransA: true, M: 288, N: 96, K: 1152},
		"logits 1152x18x96T":   {TransB: true, M: 1152, N: 18, K: 96},
	}
	for name, p := range cases {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			x, y, z := draw(rng, p.M*p.K), draw(rng, p.K*p.N), make([]float32, p.M*p.N)
			for b.Loop() {
				Fastest().Gemm(p, x, y, 0, z)
			}
			b.ReportMetric(2*float64(p.M*p.N*p.K)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
