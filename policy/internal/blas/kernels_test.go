package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// widths has whole vectors, odd ends, and rows shorter than a vector.
func widths() []int { return []int{1, 7, 8, 9, 16, 31, 96} }

func forWidths(t *testing.T, check func(t *testing.T, rng *rand.Rand, d int)) {
	for _, d := range widths() {
		t.Run(fmt.Sprint(d), func(t *testing.T) { check(t, rand.New(rand.NewPCG(3, uint64(d))), d) })
	}
}

func TestCellEqualsPortable(t *testing.T) {
	forWidths(t, func(t *testing.T, rng *rand.Rand, d int) {
		in := GRUCell[float32]{In: draw(rng, 3*d), Rec: draw(rng, 3*d), Bias: draw(rng, 3*d), H: draw(rng, d)}
		run := func(k Arithmetic[float32]) []float32 {
			out := make([]float32, 5*d)
			c := in
			c.R, c.Z, c.Cand, c.Hidden, c.Output = out[:d], out[d:2*d], out[2*d:3*d], out[3*d:4*d], out[4*d:]
			k.GRUCell(c)
			return out
		}
		if diff := far(run(Fastest()), run(Portable[float32]{})); diff > 1e-6 {
			t.Errorf("differs by %g", diff)
		}
	})
}

func TestCellGradEqualsPortable(t *testing.T) {
	forWidths(t, func(t *testing.T, rng *rand.Rand, d int) {
		in := GRUCellGrad[float32]{H: draw(rng, d), R: draw(rng, d), Z: draw(rng, d), Cand: draw(rng, d), Hidden: draw(rng, d)}
		dh := draw(rng, d)
		run := func(k Arithmetic[float32]) []float32 {
			out := append(make([]float32, 4*d), dh...)
			c := in
			c.DRec, c.DCand, c.DH = out[:3*d], out[3*d:4*d], out[4*d:]
			k.GRUCellGrad(c)
			return out
		}
		if diff := far(run(Fastest()), run(Portable[float32]{})); diff > 1e-6 {
			t.Errorf("differs by %g", diff)
		}
	})
}

func TestAddEqualsPortable(t *testing.T) {
	forWidths(t, func(t *testing.T, rng *rand.Rand, d int) {
		src, got := draw(rng, d), draw(rng, d)
		want := slices.Clone(got)
		Fastest().Add(got, src)
		Portable[float32]{}.Add(want, src)
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestExp(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	cases := map[string]struct{ in, want float32 }{
		"zero":           {0, 1},
		"one":            {1, math.E},
		"small":          {-20, 2.0611536e-9},
		"large":          {80, 5.5406224e34},
		"underflow":      {-200, 0},
		"minus infinity": {-inf, 0},
		"NaN":            {nan, nan},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, k := range []Arithmetic[float32]{Fastest(), Portable[float32]{}} {
				values := slices.Repeat([]float32{c.in}, 9)
				k.Exp(values, values)
				for i, got := range values {
					off := math.Abs(float64(got - c.want))
					if math.IsNaN(float64(c.want)) != math.IsNaN(float64(got)) || off > 1e-37+1e-6*float64(c.want) {
						t.Errorf("%T: value %d is %g, want %g", k, i, got, c.want)
					}
				}
			}
		})
	}
}

// TestExtremes has gates that are wide open, shut, or driven beyond what an
// exponential can be: no NaN comes of numbers.
func TestExtremes(t *testing.T) {
	for _, x := range []float32{50, 88.5, 89, 1e4, 1e30, float32(math.Inf(1))} {
		for _, in := range []float32{x, -x} {
			t.Run(fmt.Sprint(in), func(t *testing.T) {
				for _, k := range []Arithmetic[float32]{Fastest(), Portable[float32]{}} {
					const d = 9
					fill := func(n int, x float32) []float32 { return slices.Repeat([]float32{x}, n) }
					c := GRUCell[float32]{In: fill(3*d, in), Rec: fill(3*d, 0), Bias: fill(3*d, 0), H: fill(d, 0.5),
						R: fill(d, 0), Z: fill(d, 0), Cand: fill(d, 0), Hidden: fill(d, 0), Output: fill(d, 0)}
					k.GRUCell(c)
					want := map[bool][3]float32{true: {1, 1, 0.5}, false: {0, -1, -1}}[in > 0]
					for i := range d {
						if got := [3]float32{c.R[i], c.Cand[i], c.Output[i]}; far(got[:], want[:]) > 1e-6 {
							t.Errorf("%T: value %d has reset gate, candidate and output %v, want %v", k, i, got, want)
						}
					}
					e := fill(d, in)
					k.Exp(e, e)
					if low, high := slices.Min(e), slices.Max(e); math.IsNaN(float64(low)) || in > 88 && low < 2e38 || in < -88 && high > 1.2e-38 {
						t.Errorf("%T: exponentials from %v to %v", k, low, high)
					}
				}
			})
		}
	}
}

func TestAdamEqualsPortable(t *testing.T) {
	forWidths(t, func(t *testing.T, rng *rand.Rand, d int) {
		value, grad, mean, square := draw(rng, d), draw(rng, d), draw(rng, d), draw(rng, d)
		for i := range square {
			square[i] *= square[i]
		}
		run := func(k Arithmetic[float32]) []float32 {
			a := Adam[float32]{slices.Clone(value), grad, slices.Clone(mean), slices.Clone(square), 0.7, 0.9, 0.999, 3e-2, 1.5, 1e-8}
			k.Adam(a)
			return slices.Concat(a.Value, a.Mean, a.Square)
		}
		if diff := far(run(Fastest()), run(Portable[float32]{})); diff > 1e-6 {
			t.Errorf("differs by %g", diff)
		}
	})
}
