package grpo

import (
	"slices"

	"toolgym/grpo/objective"
)

// payments are what the advantages of groups are worked out from: the rewards
// of their completions and, where criteria are normalized one by one, what they
// got by each criterion that is paid for.
type payments struct {
	plan    *plan
	rewards []objective.Rewards
	shares  [][]objective.Rewards // by paid criterion and group; none where rewards are all that counts
}

func (p *plan) payments() *payments {
	y := &payments{plan: p}
	if p.aggregation == objective.NormalizeThenSum {
		y.shares = make([][]objective.Rewards, len(p.tariff.paid))
	}
	return y
}

// open begins a group, and returns its index.
func (y *payments) open() int {
	y.rewards = withRoom(y.rewards)
	for k := range y.shares {
		y.shares[k] = withRoom(y.shares[k])
	}
	return len(y.rewards) - 1
}

// withRoom adds a group without members, in memory that was used before if
// there is any.
func withRoom(groups []objective.Rewards) []objective.Rewards {
	n := len(groups)
	groups = slices.Grow(groups, 1)[:n+1]
	groups[n].Values, groups[n].Valid = groups[n].Values[:0], groups[n].Valid[:0]
	return groups
}

// add takes in the next completion of a group. Several goroutines may add to
// groups of their own.
func (y *payments) add(group int, s *Score) {
	y.rewards[group].Add(s.Reward)
	for k := range y.shares {
		var share *float64 // nil where the reward is
		if s.Reward != nil {
			share = &s.Criteria.values[y.plan.tariff.paid[k]]
		}
		y.shares[k][group].Add(share)
	}
}

// size is the number of completions of a group so far.
func (y *payments) size(group int) int { return len(y.rewards[group].Values) }

// advantages are those of every completion of every group, and how the rewards
// of each group lie.
func (y *payments) advantages() ([][]float64, []objective.Spread, error) {
	advantages, spreads, err := objective.Advantages(y.rewards, y.plan.normalization)
	if err != nil || y.plan.aggregation != objective.NormalizeThenSum {
		return advantages, spreads, err
	}
	weights := make([]float64, len(y.shares))
	for k := range weights {
		weights[k] = y.plan.tariff.clauses[y.plan.tariff.paid[k]].Weight
	}
	advantages, err = objective.ByCriterion(y.shares, weights, y.plan.normalization)
	return advantages, spreads, err
}

// reset forgets all groups.
func (y *payments) reset() {
	y.rewards = y.rewards[:0]
	for k := range y.shares {
		y.shares[k] = y.shares[k][:0]
	}
}
