package nn

import (
	"math"
	"testing"

	"toolgym/policy/internal/blas"
)

// pair is a batch of two episodes over three steps with two actions, all
// logits 0: one episode ends after two steps.
func pair(o Objective) *Loss[float64] {
	l := NewLoss[float64](blas.Portable[float64]{}, 2, 3, 2)
	l.Objective = o
	copy(l.Episodes.Lengths, []int{3, 2})
	copy(l.Episodes.Rewards[0], []float64{0, 0, 2})
	copy(l.Episodes.Rewards[1], []float64{0.5, 1, 0})
	return l
}

func equal(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-7 {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

// TestA2C compares with numbers worked out by hand: γ = 1, λ = ½.
func TestA2C(t *testing.T) {
	l := pair(Objective{Rule: A2C, Value: 0.5, Entropy: 0.1, Discount: 1, Lambda: 0.5})
	values := []float64{1, 0.5, 1, 0.5, 1, 100} // the last is behind the end
	if err := l.Compute(make([]float64, 12), values); err != nil {
		t.Fatal(err)
	}
	// Episode 0: δ = 0+1−1, 0+1−1, 2−1 = 0, 0, 1, so A = ¼, ½, 1.
	// Episode 1: δ = 0.5+0.5−0.5, 1+0−0.5 = 0.5, 0.5, so A = 0.75, 0.5.
	advantages := []float64{0.25, 0.75, 0.5, 0.5, 1, 0}
	sum, squares := 0.0, 0.0
	for i, a := range advantages {
		sum, squares = sum+a, squares+a*a
		equal(t, "the gradient of a value", l.DValues[i], -a/5)
	}
	equal(t, "advantage", l.Statistics.Advantage, sum/5)
	equal(t, "policy loss", l.Statistics.PolicyLoss, math.Ln2*sum/2)
	equal(t, "value loss", l.Statistics.ValueLoss, squares/5)
	equal(t, "entropy", l.Statistics.Entropy, math.Ln2)
	equal(t, "loss", l.Statistics.Loss, l.Statistics.PolicyLoss+0.5*squares/5-0.1*math.Ln2)
	if l.DLogits[10] != 0 || l.DLogits[11] != 0 {
		t.Errorf("what stands behind the end carries gradient: %v", l.DLogits[10:])
	}
}

// TestDiscount compares with numbers worked out by hand: γ = ½, λ = ½.
func TestDiscount(t *testing.T) {
	l := pair(Objective{Rule: A2C, Discount: 0.5, Lambda: 0.5})
	if err := l.Compute(make([]float64, 12), []float64{1, 0.5, 1, 0.5, 1, 100}); err != nil {
		t.Fatal(err)
	}
	// Episode 0: δ = 0+½−1, 0+½−1, 2−1 = −½, −½, 1, so with γλ = ¼ A = −9/16, −¼, 1.
	// Episode 1: δ = 0.5+¼−0.5, 1+0−0.5 = ¼, ½, so A = 3/8, ½.
	want := []float64{-9. / 16, 3. / 8, -0.25, 0.5, 1}
	sum, size := 0.0, 0.0
	for _, a := range want {
		sum, size = sum+a, size+math.Abs(a)
	}
	equal(t, "advantage", l.Statistics.Advantage, size/5)
	equal(t, "policy loss", l.Statistics.PolicyLoss, math.Ln2*sum/2)
	for i, a := range want { // of two equally likely actions, the logit of the one taken
		equal(t, "the gradient of a logit", l.DLogits[2*i+l.Episodes.Actions[i]], -a/2/2)
	}
}

// TestDocumented: R − V is 2 − 3 and 1.5 − 1.25, and nothing is masked.
func TestDocumented(t *testing.T) {
	l := pair(Objective{Rule: Documented, Value: 0.5})
	if err := l.Compute(make([]float64, 12), []float64{1, 0.5, 1, 0.5, 1, 0.25}); err != nil {
		t.Fatal(err)
	}
	equal(t, "advantage", l.Statistics.Advantage, (1+0.25)/2)
	equal(t, "value loss", l.Statistics.ValueLoss, (1+0.0625)/2)
	equal(t, "policy loss", l.Statistics.PolicyLoss, 3*math.Ln2*(-1+0.25)/2)
	equal(t, "the gradient of a value", l.DValues[4], 0.5)
	if l.DLogits[10] == 0 {
		t.Error("what stands behind the end carries no gradient, but is published to")
	}
}
