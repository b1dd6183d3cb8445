package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"toolgym/grpo/objective"
	"toolgym/policy/internal/graph"
	"toolgym/policy/internal/network"
	"toolgym/policy/internal/update"
	"toolgym/policy/internal/vector"
	"toolgym/tools/arithmetic"
)

// grpoGraph is a small float64 graph whose loss is that of the update grpo,
// with ratios on both sides of the clip range.
func grpoGraph(t *testing.T, o objective.Config) (*graph.Graph[float64], *network.Params[float64]) {
	t.Helper()
	size := network.Size{Batch: 6, Steps: 4, Context: 5}
	rng := rand.New(rand.NewPCG(1, 2))
	p := network.NewParams[float64](network.Dims{
		Vocabulary: arithmetic.Vocabulary, Hidden: 5, Stages: 2, Start: arithmetic.Ctx, Pool: network.Ordered,
	})
	p.Draw(rng)
	g, err := graph.New[float64](vector.Portable[float64]{}, p, size)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Forward.Contexts {
		g.Forward.Contexts[i] = rng.IntN(10)
	}
	actions := make([]int, size.Batch*size.Steps)
	s := surrogate{config: o, advantages: []float64{1.3, -0.8, 0.4, -1.1, 0, 0.9}}
	for i := range actions {
		actions[i] = rng.IntN(arithmetic.Vocabulary)
		s.old = append(s.old, -2.9+0.5*rng.NormFloat64())
		s.start = append(s.start, -2.9+0.5*rng.NormFloat64())
	}
	copy(g.Loss.Episodes.Lengths, []int{4, 3, 1, 2, 4, 4})
	g.Loss.Objective = update.Objective{Kind: update.Relative, Entropy: 0.01, Surrogate: s.relate}
	g.Force(arithmetic.Ctx, actions)
	return g, p
}

func TestGRPOGradientsEqualFiniteDifferences(t *testing.T) {
	high := 0.28
	cases := map[string]objective.Config{
		"default":  objective.Default(),
		"grpo":     {Type: objective.LossGRPO, Epsilon: 0.2, EpsilonHigh: &high, Beta: 2, KL: objective.KL3, Level: objective.LevelToken},
		"sequence": {Type: objective.LossGRPO, Epsilon: 0.05, Beta: 0.05, KL: objective.KL3, Level: objective.LevelSequence},
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			g, p := grpoGraph(t, o)
			if err := g.Run(); err != nil {
				t.Fatal(err)
			}
			if f := g.Loss.Figures; f.ClipLow == 0 || f.ClipHigh == 0 || f.KL <= 0 {
				t.Errorf("the example clips nothing: %+v", f)
			}
			at := func(i int, x float64) float64 {
				old := p.Flat[i]
				defer func() { p.Flat[i] = old }()
				p.Flat[i] = x
				g.Forward.Prepare()
				g.Forward.Follow(g.Loss.Episodes.Actions)
				if err := g.Loss.Compute(g.Forward.Logits, g.Forward.Values); err != nil {
					t.Fatal(err)
				}
				return g.Loss.Figures.Loss
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
