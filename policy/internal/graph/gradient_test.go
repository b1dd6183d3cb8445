package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
	"toolgym/policy/internal/vector"
)

const start = 10

// mixed returns the graph of a small random network, with samples whose
// contexts and episodes differ in length.
func mixed[F vector.Float](t *testing.T, k vector.Arithmetic[F], pool network.Pool, o update.Objective) (*Graph[F], *network.Params[F]) {
	t.Helper()
	size := network.Size{Batch: 5, Steps: 4, Context: 8} // two tokens of it are padding in all samples
	rng := rand.New(rand.NewPCG(7, uint64(pool)))
	p := network.NewParams[F](network.Dims{Vocabulary: 18, Hidden: 6, Stages: 3, Start: start, Pool: pool})
	p.Draw(rng)
	g, err := New(k, p, size)
	if err != nil {
		t.Fatal(err)
	}
	for b := range size.Batch {
		g.Forward.Stages[b] = b % 3
		for i := range size.Context {
			g.Forward.Contexts[b*size.Context+i] = rng.IntN(11)
			if i > 3+b%3 {
				g.Forward.Contexts[b*size.Context+i] = -1
			}
		}
		g.Loss.Episodes.Lengths[b] = []int{4, 2, 1, 3, 4}[b]
	}
	actions := make([]int, size.Batch*size.Steps)
	e := g.Loss.Episodes
	for i := range actions {
		actions[i] = rng.IntN(18)
		e.Rewards[i] = F(rng.Float64())
	}
	g.Loss.Objective = o
	g.Force(start, actions)
	return g, p
}

func objectives() map[string]update.Objective {
	return map[string]update.Objective{
		"documented":         {Kind: update.Documented, Value: 0.5, Entropy: 0.01},
		"documented entropy": {Kind: update.Documented, Entropy: 3},
		"sound":              {Kind: update.Sound, Value: 0.5, Entropy: 0.01, Discount: 1, Lambda: 0.95},
		"sound discounted":   {Kind: update.Sound, Value: 0.7, Entropy: 0.5, Discount: 0.9, Lambda: 0.5},
		"relative":           {Kind: update.Relative, Surrogate: cubes},
		"relative entropy":   {Kind: update.Relative, Surrogate: cubes, Entropy: 0.3},
	}
}

// cubes is a surrogate whose loss is the sum of the cubes of all
// log-probabilities.
func cubes(logProbs [][]float64) (update.Relation, error) {
	r := update.Relation{Gradient: make([][]float64, len(logProbs))}
	for i, row := range logProbs {
		for _, x := range row {
			r.Loss += x * x * x
			r.Gradient[i] = append(r.Gradient[i], 3*x*x)
		}
	}
	return r, nil
}

func pools() map[string]network.Pool {
	return map[string]network.Pool{"batch": network.Batch, "own": network.Own, "ordered": network.Ordered}
}

// frozen is the loss as the gradient sees it: advantages and the critic's
// targets are constants, made from values, those of the point where the
// gradient was taken.
func frozen(t *testing.T, g *Graph[float64], values []float64) float64 {
	t.Helper()
	if err := g.Loss.Compute(g.Forward.Logits, values); err != nil {
		t.Fatal(err)
	}
	f, o := g.Loss.Figures, g.Loss.Objective
	if o.Kind == update.Relative {
		return f.Loss
	}
	loss := f.PolicyLoss - o.Entropy*f.Entropy
	now := g.Forward.Value()
	for i, d := range g.Loss.DValues {
		loss += d * (now[i] - values[i]) // the value loss, linear at values: DValues was taken there
	}
	return loss
}

func TestGradientsEqualFiniteDifferences(t *testing.T) {
	for pool, number := range pools() {
		for name, o := range objectives() {
			t.Run(fmt.Sprintf("%s/%s", pool, name), func(t *testing.T) {
				g, p := mixed[float64](t, vector.Portable[float64]{}, number, o)
				if err := g.Run(); err != nil {
					t.Fatal(err)
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
	for pool, number := range pools() {
		t.Run(pool, func(t *testing.T) {
			g, p := mixed(t, vector.Fastest(), number, objectives()["sound"])
			if err := g.Run(); err != nil {
				t.Fatal(err)
			}
			f := network.NewForward[float32](vector.Portable[float32]{}, p, network.Size{Batch: 5, Steps: 4, Context: 8})
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
	for pool, number := range pools() {
		t.Run(pool, func(t *testing.T) {
			g, _ := mixed[float64](t, vector.Portable[float64]{}, number, objectives()["sound"])
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
