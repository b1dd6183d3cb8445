package policy_test

import (
	"math"
	"slices"
	"testing"

	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestMetricsByHand works the figures of updates out anew, from LogProbs of
// the same plans under the policy before the update and under the starting one.
func TestMetricsByHand(t *testing.T) {
	for _, update := range []string{policy.UpdateA2C, policy.UpdateGRPO} {
		t.Run(update, func(t *testing.T) {
			c := small(update, policy.PoolOrdered)
			c.Compare, c.LearningRate = true, 0.01
			tr := newTrainer(t, c, tools.Sound, "1", 1)
			start := tr.learner.Net().Clone()
			tr.train(t, 20)
			tr.sample(t)
			tr.relate()
			before := tr.learner.Net().Clone()
			m, err := tr.learner.Update(tr.batch)
			if err != nil {
				t.Fatal(err)
			}
			var steps, calls, mass, called, startCalled, kl float64
			reference := judged(t, start, tr.batch)
			for i, j := range judged(t, before, tr.batch) {
				for s, logP := range j.LogProbs {
					steps++
					mass += j.ToolMass[s]
					ratio := math.Exp(reference[i].LogProbs[s] - logP)
					kl += ratio - 1 - math.Log(ratio)
					if isCall(tr.batch.Plans[i][s]) {
						calls++
						called += math.Exp(logP)
						startCalled += math.Exp(reference[i].LogProbs[s])
					}
				}
			}
			for what, pair := range map[string][2]float64{
				"tool mass": {m.ToolMass, mass / steps}, "call probability": {m.CallProb, called / calls},
				"call probability at the start": {*m.StartCallProb, startCalled / calls}, "KL": {*m.KL, kl / steps},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-5*(1+pair[1]) {
					t.Errorf("%s is %v, by hand %v", what, pair[0], pair[1])
				}
			}
			if steps == float64(c.Batch*c.Steps) || calls == steps || *m.KL < 0.01 {
				t.Errorf("%v steps with %v calls, KL %v: the example tells nothing apart", steps, calls, *m.KL)
			}
		})
	}
}

func isCall(token int) bool {
	return slices.Contains([]int{arithmetic.Mul, arithmetic.Add, arithmetic.Sub, arithmetic.Ans, arithmetic.Sto, arithmetic.Rcl}, token)
}

// judged is what a network makes of a batch's plans, up to their ends.
func judged(t *testing.T, n *policy.Net, b *policy.Batch) []policy.PlanLogProbs {
	t.Helper()
	plans := make([][]int, len(b.Plans))
	for i, plan := range b.Plans {
		plans[i] = plan[:b.Lengths[i]]
	}
	list, err := policy.NewActor(n).LogProbs(b.Prompts, plans)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestClipSharesByHand makes updates by one batch: ratios below 1 − ε are clipped
// where the advantage is negative, those above 1 + ε where it is positive
// (Schulman et al., 2017).
func TestClipSharesByHand(t *testing.T) {
	c := small(policy.UpdateGRPO, policy.PoolOrdered)
	c.LearningRate = 0.02
	tr := newTrainer(t, c, tools.Sound, "1", 1)
	tr.sample(t)
	tr.relate()
	for i := range tr.batch.Advantages {
		tr.batch.Advantages[i] = []float64{1.5, 0.5, -1}[i%3] // more up than down
	}
	old := judged(t, tr.learner.Net(), tr.batch)
	var last policy.Metrics
	for range 4 {
		now := judged(t, tr.learner.Net(), tr.batch)
		m, err := tr.learner.Update(tr.batch)
		if err != nil {
			t.Fatal(err)
		}
		var steps, low, high float64
		for i, j := range now {
			for s, logP := range j.LogProbs {
				steps++
				ratio := math.Exp(logP - old[i].LogProbs[s])
				if a := tr.batch.Advantages[i]; a < 0 && ratio < 1-c.GRPO.Epsilon {
					low++
				} else if a > 0 && ratio > 1+c.GRPO.Epsilon {
					high++
				}
			}
		}
		if math.Abs(*m.ClipLow-low/steps) > 1e-9 || math.Abs(*m.ClipHigh-high/steps) > 1e-9 {
			t.Errorf("update %d: shares %v and %v, by hand %v and %v", m.Update, *m.ClipLow, *m.ClipHigh, low/steps, high/steps)
		}
		last = m
	}
	if *last.ClipLow == 0 || *last.ClipHigh == 0 || *last.ClipLow == *last.ClipHigh {
		t.Errorf("shares %v and %v: the example tells nothing apart", *last.ClipLow, *last.ClipHigh)
	}
}
