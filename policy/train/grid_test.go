package train_test

import (
	"testing"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestGridworld trains on level 0 through the same Enumerator: the plan found
// has the optimal length of ten.
func TestGridworld(t *testing.T) {
	config := configured(t, gridworld.Spec(), train.Choice{
		Levels: []string{"0"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.A2C, Pool: policy.PoolOrdered, Seed: 2,
	}, func(c *train.Config) { c.Network.Compare, c.Tasks, c.Check = false, 10, 10 })
	result, _ := finished(t, started(t, gridworld.Spec(), config), train.Options{})
	if s := result.Standings[0]; s.Success != 1 || s.Steps != 10 || s.Optimal != 10 || s.Reward < 12.29 {
		t.Errorf("%+v after %d updates", s, result.Updates)
	}
}
