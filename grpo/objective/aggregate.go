package objective

import "toolgym/internal/refusal"

// Aggregation says whether criteria are added up before or after they are
// normalized.
type Aggregation string

// The aggregations. The names are those of requests.
const (
	// SumThenNormalize adds the weighted criteria to a reward and normalizes
	// that.
	SumThenNormalize Aggregation = "sum_then_normalize"
	// NormalizeThenSum normalizes each criterion in its group and adds up the
	// results, weighted: rewards of different scale or spread keep their say
	// (GDPO, arXiv:2601.05242, equations 4 and 5).
	NormalizeThenSum Aggregation = "normalize_then_sum"
)

// ByCriterion computes advantages from several criteria:
//
//	A = Σ_k w_k · A_k,  A_k the Advantages of criterion k's values alone
//
// criteria[k] holds the groups of criterion k, all of one shape, and weights[k]
// its weight. With one criterion of weight 1 this is Advantages. The second
// normalization of the whole batch that GDPO's equation 6 adds is left to the
// trainer, which sees the whole batch.
func ByCriterion(criteria [][]Rewards, weights []float64, by Normalization) ([][]float64, error) {
	if len(criteria) != len(weights) {
		return nil, refusal.New("weights", "one a criterion", "%d weights for %d criteria", len(weights), len(criteria))
	}
	var total [][]float64
	for k, groups := range criteria {
		part, _, err := Advantages(groups, by)
		if err != nil {
			return nil, err
		}
		if total == nil {
			total = part
			scale(total, weights[k])
			continue
		}
		if err := add(total, part, weights[k]); err != nil {
			return nil, err
		}
	}
	for _, group := range total {
		if err := finite(group); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func scale(groups [][]float64, w float64) {
	for _, group := range groups {
		for i := range group {
			group[i] *= w
		}
	}
}

// add adds w times part to total.
func add(total, part [][]float64, w float64) error {
	if len(total) != len(part) {
		return refusal.New("criteria", "the same groups for each", "one criterion has %d groups, another %d", len(total), len(part))
	}
	for g := range part {
		if len(total[g]) != len(part[g]) {
			return refusal.New("criteria", "the same completions for each", "group %d has %d values of one criterion and %d of another", g, len(total[g]), len(part[g]))
		}
		for i, a := range part[g] {
			total[g][i] += w * a
		}
	}
	return nil
}
