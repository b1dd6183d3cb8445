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
	if s := result.StageResults[0]; s.Success != 1 || s.Steps != 10 || s.Optimal != 10 || s.Reward < 12.29 {
		t.Errorf("%+v after %d updates", s, result.Updates)
	}
}

// TestLayouts asks for the shortest way only where there is one layout: a policy
// that solves layouts of all kinds by a step too many is not thrown away. It
// gives memory where there is something to remember.
func TestLayouts(t *testing.T) {
	for level, fixed := range map[string]bool{"0": true, "1": false, "2": false} {
		t.Run("level "+level, func(t *testing.T) {
			config := configured(t, gridworld.Spec(), train.Choice{
				Levels: []string{level}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.A2C, Pool: policy.PoolOrdered,
			}, nil)
			if (config.Excess > 0) != fixed || (config.Network.Memory > 0) == fixed {
				t.Errorf("excess %v, memory %v", config.Excess, config.Network.Memory)
			}
		})
	}
}
