package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toolgym/grpo/objective"
	"toolgym/policy/internal/blas"
)

const start = 10

// mixed returns the graph of a small random network, with samples whose
// contexts and episodes differ in length. Log-probabilities under the old policy
// are far enough from the network's for ratios to be clipped on both sides.
func mixed[F blas.Float](t *testing.T, k blas.Arithmetic[F], pool string, o Objective) (*Graph[F], *Params[F]) {
	t.Helper()
	size := Size{Batch: 5, Steps: 4, Context: 8} // at least two tokens of each context are padding
	rng := rand.New(rand.NewPCG(7, uint64(len(pool))))
	p := NewParams[F](Dims{Vocabulary: 18, Hidden: 6, Stages: 3, Start: start, Pool: pool})
	p.Draw(rng)
	g, err := NewGraph(k, p, size)
	if err != nil {
		t.Fatal(err)
	}
	e := &g.Loss.Episodes
	e.Advantages = []float64{1.3, -0.8, 0.4, -1.1, 0.9}
	e.Old, e.Ref = NewRows[float64](size.Batch, size.Steps), NewRows[float64](size.Batch, size.Steps)
	actions := make([]int, size.Batch*size.Steps)
	for b := range size.Batch {
		g.Forward.Stages[b] = b % 3
		for i := range size.Context {
			g.Forward.Contexts[b*size.Context+i] = rng.IntN(11)
			if i > 3+b%3 {
				g.Forward.Contexts[b*size.Context+i] = -1
			}
		}
		e.Lengths[b] = []int{4, 2, 1, 3, 4}[b]
		for t := range size.Steps {
			actions[t*size.Batch+b] = rng.IntN(18)
			e.Rewards[b][t] = F(rng.Float64())
			e.Old[b][t] = -2.9 - math.Copysign(0.4, e.Advantages[b]) + 0.5*rng.NormFloat64()
			e.Ref[b][t] = -2.9 + 0.5*rng.NormFloat64()
		}
	}
	g.Loss.Objective = o
	g.Force(start, actions)
	return g, p
}

func objectives() map[string]Objective {
	high := 0.28
	return map[string]Objective{
		"documented":         {Rule: Documented, Value: 0.5, Entropy: 0.01},
		"documented entropy": {Rule: Documented, Entropy: 3},
		"a2c":                {Rule: A2C, Value: 0.5, Entropy: 0.01, Discount: 1, Lambda: 0.95},
		"a2c discounted":     {Rule: A2C, Value: 0.7, Entropy: 0.5, Discount: 0.9, Lambda: 0.5},
		"grpo":               {Rule: GRPO, Entropy: 0.01, GRPO: objective.Default()},
		"grpo entropy": {Rule: GRPO, Entropy: 0.3, GRPO: objective.Config{Type: objective.LossGRPO, Epsilon: 0.2, EpsilonHigh: &high,
			Beta: 2, KL: objective.KL3, Level: objective.LevelToken}},
		"grpo sequence": {Rule: GRPO, GRPO: objective.Config{Type: objective.LossGRPO, Epsilon: 0.05,
			Beta: 0.05, KL: objective.KL3, Level: objective.LevelSequence}},
	}
}

func pools() []string { return []string{PoolBatch, PoolOwn, PoolOrdered} }

// frozen is the loss as the gradient sees it: advantages and the critic's
// targets are constants, computed from values, those of the point where the
// gradient was computed.
func frozen(t *testing.T, g *Graph[float64], values []float64) float64 {
	t.Helper()
	if err := g.Loss.Compute(g.Forward.Logits, values); err != nil {
		t.Fatal(err)
	}
	s, o := g.Loss.Statistics, g.Loss.Objective
	if o.Rule == GRPO {
		return s.Loss
	}
	loss := s.PolicyLoss - o.Entropy*s.Entropy
	now := g.Forward.Value()
	for i, d := range g.Loss.DValues {
		loss += d * (now[i] - values[i]) // the value loss, linear at values, where DValues was computed
	}
	return loss
}

func TestGradientsEqualFiniteDifferences(t *testing.T) {
	for _, pool := range pools() {
		for name, o := range objectives() {
			t.Run(fmt.Sprintf("%s/%s", pool, name), func(t *testing.T) {
				g, p := mixed[float64](t, blas.Portable[float64]{}, pool, o)
				if err := g.Run(); err != nil {
					t.Fatal(err)
				}
				if s := g.Loss.Statistics; o.Rule == GRPO && (s.ClipLow == 0 || s.ClipHigh == 0 || s.KL <= 0) {
					t.Errorf("the example clips no ratio on one side: %+v", s)
				}
				values := slices.Clone(g.Forward.Values)
				actions := slices.Clone(g.Loss.Episodes.Actions)
				at := func(i int, x float64) float64 {
					old := p.Flat[i]
					defer func() { p.Flat[i] = old }()
					p.Flat[i] = x
					g.Forward.Prepare()
					g.Forward.Follow(actions)
					return frozen(t, g, values)
				}
				const h = 1e-5
				for i, x := range p.Flat {
					want := (at(i, x+h) - at(i, x-h)) / (2 * h)
					if d := math.Abs(g.Grad[i] - want); d > 1e-6*(1+math.Abs(want)) {
						t.Fatalf("value %d: gradient %g, differences give %g", i, g.Grad[i], want)
					}
				}
			})
		}
	}
}

func TestActingEqualsGraph(t *testing.T) {
	for _, pool := range pools() {
		t.Run(pool, func(t *testing.T) {
			g, p := mixed(t, blas.Fastest(), pool, objectives()["a2c"])
			if err := g.Run(); err != nil {
				t.Fatal(err)
			}
			f := NewForward[float32](blas.Portable[float32]{}, p, Size{Batch: 5, Steps: 4, Context: 8})
			copy(f.Contexts, g.Forward.Contexts)
			copy(f.Stages, g.Forward.Stages)
			f.Prepare()
			f.Follow(g.Loss.Episodes.Actions)
			near(t, "logits", f.Logits, widen(g.Forward.Logits), 1e-5)
			near(t, "values", f.Value(), widen(g.Forward.Values), 1e-5)
		})
	}
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, x := range values {
		wide[i] = float64(x)
	}
	return wide
}

func TestFreshRunsAreNotRepeated(t *testing.T) {
	for _, pool := range pools() {
		t.Run(pool, func(t *testing.T) {
			g, _ := mixed[float64](t, blas.Portable[float64]{}, pool, objectives()["a2c"])
			if err := g.Run(); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(g.Grad)
			actions := slices.Clone(g.Loss.Episodes.Actions)
			clear(g.Forward.Plan.H)
			g.Forward.Prepare()
			g.Forward.Follow(actions)
			g.Forward.Keep()
			if err := g.Run(); err != nil {
				t.Fatal(err)
			}
			near(t, "gradient", g.Grad, want, 1e-12)
			if g.Forward.Plan.Fresh {
				t.Error("the run is still fresh: the next one would not see new weights")
			}
		})
	}
}
