package nn

import (
	"math"
	"testing"
)

func TestNorm(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 5, 9} {
		values := make([]float32, n)
		for i := range values {
			values[i] = 2
		}
		if got, want := Norm(values), 2*math.Sqrt(float64(n)); math.Abs(got-want) > 1e-12 {
			t.Errorf("norm of %d twos is %v, want %v", n, got, want)
		}
	}
	if !math.IsNaN(Norm([]float32{1, float32(math.NaN())})) {
		t.Error("a NaN is lost")
	}
}
