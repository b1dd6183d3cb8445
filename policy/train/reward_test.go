package train

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestReward tells the learner what was paid less the cost of each token played,
// with what idling is worth at the end of plans that failed, divided by the scale;
// GRPO's plans are compared within their groups, by their sums in standard
// deviations.
func TestReward(t *testing.T) {
	c, err := Default(arithmetic.Spec(), Choice{Levels: []string{"0"}, Rules: tools.Sound, Curriculum: Mastery, Algorithm: GRPO, Pool: policy.PoolOwn})
	if err != nil {
		t.Fatal(err)
	}
	c.Network.Batch, c.Network.Steps, c.Network.Hidden, c.Group = 4, 3, 4, 2
	c.Cost, c.Idle, c.Scale = 0.5, -0.25, 2
	trainer, err := New(arithmetic.Spec(), c)
	if err != nil {
		t.Fatal(err)
	}
	b := trainer.batch
	copy(b.Lengths, []int{2, 3, 1, 1})
	copy(trainer.solved, []bool{true, false, false, false})
	b.Rewards = [][]float64{{1, 4, 0}, {0, 0, 1}, {3, 0, 0}, {3, 0, 0}}
	if err := trainer.shapeRewards(); err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{0.25, 1.75, 0}, {-0.25, -0.25, 0.25}, {1, 0, 0}, {1, 0, 0}}
	if diff := cmp.Diff(want, b.Rewards); diff != "" {
		t.Errorf("want (-) and told (+):\n%s", diff)
	}
	// The first group's sums are 2 and −¼, the second's are the same.
	if diff := cmp.Diff([]float64{0.7071, -0.7071, 0, 0}, b.Advantages, cmpopts.EquateApprox(0, 1e-3)); diff != "" {
		t.Errorf("want (-) and told (+):\n%s", diff)
	}
}

// TestConverged counts evaluations at mastery since plans were last shorter by more
// than chance; one without mastery begins anew.
func TestConverged(t *testing.T) {
	c := Config{Convergence: 2}
	p := newProgress(1)
	for i, e := range []struct {
		success, steps float64
		done           bool
	}{
		{1, 8, false}, {1, 7.99, false}, {1, 7.96, true}, // not shorter by more than 0.05
		{0.98, 5, false}, {1, 7, false}, {1, 6, false}, {1, 6, false}, {1, 6.2, true},
	} {
		if got := p.converged([]telemetry.StageResult{{Success: e.success, Steps: e.steps}}, c); got != e.done {
			t.Errorf("evaluation %d: done %v, %+v", i, got, p.Convergence)
		}
	}
}

// TestStuck waits for progress as long as patience lets it, and a quarter of that
// where plans work and are only too long.
func TestStuck(t *testing.T) {
	for name, c := range map[string]struct {
		success, steps, reward float64
		at                     int // updates after the last progress
		want                   bool
	}{
		"shortly before":              {0.5, 10, 0, 399, false},
		"no progress":                 {0.5, 10, 0, 400, true},
		"good enough":                 {0.96, 10, 0, 4000, false},
		"works, too long, not yet":    {1, 12, 0, 99, false},
		"works, too long":             {1, 12, 0, 100, true},
		"a little more reward":        {0.5, 10, 0.06, 400, false},
		"a little more, but too much": {0.5, 10, 0.04, 400, true},
	} {
		t.Run(name, func(t *testing.T) {
			config := Config{Patience: 400, Excess: 0.05, Scale: 1}
			p := newProgress(1)
			p.stuck([]telemetry.StageResult{{Success: c.success, Steps: c.steps, Optimal: 10}}, config)
			p.Updates = c.at
			if got := p.stuck([]telemetry.StageResult{{Success: c.success, Steps: c.steps, Optimal: 10, Reward: c.reward}}, config); got != c.want {
				t.Errorf("stuck: %v, best %+v", got, p.Best)
			}
		})
	}
}

// TestDraw leaves tasks that a shorter plan solves out of training, where that is
// asked for, and never out of evaluations.
func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		accidental bool
		use        use
		want       bool
	}{
		"training": {false, forTraining, false}, "training on all": {true, forTraining, true}, "evaluation": {false, forEvaluation, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &player{spec: arithmetic.Spec(), env: arithmetic.Spec().Enumerate(), config: &Config{Rules: tools.Sound, Accidental: c.accidental}}
			rng, accidents := rand.New(rand.NewPCG(1, 1)), 0
			for range 300 {
				if _, err := p.draw("0", c.use, rng, &policy.Prompt{}); err != nil {
					t.Fatal(err)
				}
				if p.env.HasShortcut() {
					accidents++
				}
			}
			if (accidents > 0) != c.want {
				t.Errorf("%d of 300 tasks are solved by a shorter plan", accidents)
			}
		})
	}
}

// TestRecordsTellWhatWasPaid: the reward of a record is the environment's, whatever
// the learner is told.
func TestRecordsTellWhatWasPaid(t *testing.T) {
	var paid []float64
	for _, cost := range []float64{0, 5} {
		c, err := Default(arithmetic.Spec(), Choice{Levels: []string{"0", "2"}, Rules: tools.Sound, Curriculum: Mastery, Algorithm: A2C, Pool: policy.PoolOwn})
		if err != nil {
			t.Fatal(err)
		}
		c.Network.Hidden, c.Cost = 8, cost
		trainer, err := New(arithmetic.Spec(), c)
		if err != nil {
			t.Fatal(err)
		}
		record, err := trainer.update()
		if err != nil {
			t.Fatal(err)
		}
		paid = append(paid, record.Reward)
	}
	if paid[0] != paid[1] || paid[0] <= 0 {
		t.Errorf("plans that are the same are paid %v", paid)
	}
}
