package nn

import (
	"math"

	"toolgym/policy/internal/blas"
)

// PyTorch's defaults.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// Adam is the optimizer and its state.
type Adam[F blas.Float] struct {
	Rate         float64
	Steps        int
	Mean, Square []F
}

// NewAdam returns an optimizer of size values, before its first step.
func NewAdam[F blas.Float](rate float64, size int) *Adam[F] {
	return &Adam[F]{Rate: rate, Mean: make([]F, size), Square: make([]F, size)}
}

// Norm returns the Euclidean norm of a gradient.
func Norm[F blas.Float](grad []F) float64 {
	var sums [4]float64 // four sums, so that one addition need not wait for the last
	for len(grad) >= len(sums) {
		for i := range sums {
			x := float64(grad[i])
			sums[i] += x * x
		}
		grad = grad[len(sums):]
	}
	for _, x := range grad {
		sums[0] += float64(x) * float64(x)
	}
	return math.Sqrt(sums[0] + sums[1] + sums[2] + sums[3])
}

// Fits reports whether a step along a gradient of the given norm, clipped to
// limit, stays in the range of float32: the squares of the gradient, and the
// values, which change by at most 3.2 learning rates per step (Kingma and Ba,
// 2015, section 2.1, with these β).
func (a *Adam[F]) Fits(values []F, norm, limit float64) bool {
	const largest = math.MaxFloat32 / 4 // room for sums
	clipped := max(1, min(norm, limit))
	return clipped*clipped < largest && Norm(values)+10*a.Rate*clipped < largest // 10: the first mean is corrected by 1 ÷ (1 − Beta1)
}

// Step clips the gradient, whose norm is given, to the norm limit (multiplied by
// limit ÷ (norm + 1e-6) as in PyTorch) and makes one step. It does not change
// grad.
func (a *Adam[F]) Step(k blas.Arithmetic[F], values, grad []F, norm, limit float64) {
	a.Steps++
	t := float64(a.Steps)
	k.Adam(blas.Adam[F]{
		Value: values, Grad: grad, Mean: a.Mean, Square: a.Square,
		Scale: min(1, limit/(norm+1e-6)), Beta1: beta1, Beta2: beta2,
		Rate: a.Rate / (1 - math.Pow(beta1, t)), Root: 1 / math.Sqrt(1-math.Pow(beta2, t)), Epsilon: epsilon,
	})
}
