package train_test

import (
	"testing"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestPublishedRun is the published run on ten seeds: stage 0 is learnt on some
// seeds and not on others, stages 1 and 2 on none.
func TestPublishedRun(t *testing.T) {
	learnt := [3]int{}
	best := [3]float64{}
	for seed := range uint64(10) {
		config := configured(t, arithmetic.Spec(), chosen(tools.Documented, train.Published, train.A2C, policy.PoolBatch, seed), func(c *train.Config) {
			c.Network.Compare = false
		})
		if config.Network.Update != policy.UpdateDocumented {
			t.Fatalf("the update is %s", config.Network.Update)
		}
		result, records := finished(t, started(t, arithmetic.Spec(), config), train.Options{})
		evaluations := 0
		for _, r := range records {
			evaluations += len(r.Greedy)
		}
		if result.Updates != 60 || evaluations != 3*12 || result.Restarts != 0 {
			t.Errorf("seed %d: %d updates, %d evaluations, %d restarts", seed, result.Updates, evaluations, result.Restarts)
		}
		for stage, success := range result.Success {
			best[stage] = max(best[stage], result.Reward[stage])
			if success > 0.9 {
				learnt[stage]++
			}
		}
	}
	if learnt[0] < 1 || learnt[0] > 9 || learnt[1] > 0 || learnt[2] > 0 {
		t.Errorf("stages 0, 1, 2 are learnt on %v of 10 seeds, with best rewards of %.2f; published: some, none, none", learnt, best)
	}
	t.Logf("learnt on %v of 10 seeds, best rewards %.2f", learnt, best)
}
