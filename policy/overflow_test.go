package policy_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolgym/policy"
	"toolgym/tools"
)

// TestOverflowKeepsTheWeights makes a step so large that weights overflow, though
// its gradient is a number: the error names the update, and what is left can be
// saved, read and planned with.
func TestOverflowKeepsTheWeights(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			c := small(update, policy.PoolOrdered)
			c.LearningRate = 1e38 // Adam's first step is ten times as long before its mean: beyond float32
			tr := newTrainer(t, c, rulesOf(update), "0", 1)
			tr.sample(t)
			tr.relate()
			_, err := tr.learner.Update(tr.batch)
			diverged, ok := errors.AsType[*policy.DivergedError](err)
			if !ok || diverged.Update != 1 || math.IsInf(diverged.GradNorm, 0) || !strings.Contains(err.Error(), "overflows") {
				t.Fatalf("got %v", err)
			}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			if err := tr.learner.Save(path, policy.Checkpoint{}); err != nil {
				t.Fatal(err)
			}
			again, checkpoint, err := policy.LoadLearner(path)
			if err != nil || checkpoint.Update != 0 {
				t.Fatalf("update %d, %v", checkpoint.Update, err)
			}
			want := newTrainer(t, c, rulesOf(update), "0", 1)
			if !slices.Equal(greedy(t, again.Net(), tr.batch.Prompts), greedy(t, want.learner.Net(), tr.batch.Prompts)) {
				t.Error("the weights are not those before the update")
			}
		})
	}
}

// greedy is what the critic says of greedy plans.
func greedy(t *testing.T, n *policy.Net, prompts []policy.Prompt) (values []float64) {
	t.Helper()
	plans, err := policy.NewActor(n).Plan(prompts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		values = append(values, p.Values...)
	}
	return values
}

// TestRatiosAreToThePolicyOfThePlans uses one batch for plans that are handed in
// one after another. The first update of each is by the policy as it is then, so
// that nothing is clipped; the ratios of the second are to that policy.
func TestRatiosAreToThePolicyOfThePlans(t *testing.T) {
	c := small(policy.UpdateGRPO, policy.PoolOrdered)
	c.LearningRate = 0.05
	tr := newTrainer(t, c, tools.Sound, "0", 1)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, change := range []string{"plans", "prompts", "both"} {
		if change != "prompts" {
			tr.sample(t)
			plans := make([][]int, len(tr.batch.Plans))
			for i, plan := range tr.batch.Plans {
				plans[i] = slices.Clone(plan)
				plans[i][rng.IntN(2)] = rng.IntN(10)
			}
			other := tr.learner.NewBatch() // so that the sample is not what the batch was drawn by
			copy(other.Prompts, tr.batch.Prompts)
			if err := tr.learner.Sample(other, rng); err != nil {
				t.Fatal(err)
			}
			for i, plan := range plans {
				copy(tr.batch.Plans[i], plan)
			}
		}
		if change != "plans" {
			for i := range tr.batch.Prompts {
				tr.batch.Prompts[i].Context = append(tr.batch.Prompts[i].Context[:0], rng.IntN(10), 10)
			}
		}
		tr.relate()
		clips := func() float64 {
			m, err := tr.learner.Update(tr.batch)
			if err != nil {
				t.Fatal(err)
			}
			return *m.ClipLow + *m.ClipHigh
		}
		if first := clips(); first != 0 {
			t.Errorf("%s changed: the first update clips %v of the steps", change, first)
		}
		clips()
		if third := clips(); third == 0 {
			t.Errorf("%s changed: three updates at a high rate clip nothing", change)
		}
	}
}

// TestForeignCheckpoints are refused, with the place: sizes that no memory holds,
// and an optimizer that would make weights into what is no number.
func TestForeignCheckpoints(t *testing.T) {
	for name, c := range map[string]struct{ old, new, reason string }{
		"more than memory holds": {`"batch":24,"steps":8`, `"batch":65536,"steps":65536`, "batch: 65536 episodes of 65536 tokens"},
		"negative steps":         {`"optimizer":{"steps":3`, `"optimizer":{"steps":-3`, "optimizer/steps: -3 after 3 updates; expected 3"},
		"no steps, but moments":  {`"optimizer":{"steps":3`, `"optimizer":{"steps":0`, "optimizer/steps: 0 after 3 updates"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := saved(t, policy.UpdateA2C)
			edit(t, strings.TrimSuffix(path, ".safetensors")+".json", func(s string) string {
				changed := strings.Replace(s, c.old, c.new, 1)
				if changed == s {
					t.Fatalf("there is no %s in it", c.old)
				}
				return changed
			})
			_, _, err := policy.LoadLearner(path)
			wantRefused(t, err, path+": "+c.reason)
		})
	}
	t.Run("a negative square", func(t *testing.T) {
		path, _ := saved(t, policy.UpdateA2C)
		edit(t, strings.TrimSuffix(path, ".safetensors")+".json", func(s string) string {
			var c map[string]any
			if err := json.Unmarshal([]byte(s), &c); err != nil {
				t.Fatal(err)
			}
			optimizer := c["optimizer"].(map[string]any)
			optimizer["square"] = "AACAvwAA" + optimizer["square"].(string)[8:] // −1 first
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		})
		_, _, err := policy.LoadLearner(path)
		wantRefused(t, err, "optimizer/square: number 0 is -1; expected at least 0")
	})
}
