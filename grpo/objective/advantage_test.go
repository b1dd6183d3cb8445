package objective_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/grpo/objective"
	"toolgym/tools"
)

func group(values ...float64) objective.Rewards { return objective.Rewards{Values: values} }

// Worked out by hand: the batch 1, 3, 2, 6 has mean 3 and squares 4+0+1+9, so
// that its sample variance is 14/3.
func TestAdvantagesByBatch(t *testing.T) {
	std := math.Sqrt(14.0/3) + 1e-4
	tests := []struct {
		name   string
		groups []objective.Rewards
		want   [][]float64
	}{
		{"each group keeps its own mean", []objective.Rewards{group(1, 3), group(2, 6)}, [][]float64{{-1 / std, 1 / std}, {-2 / std, 2 / std}}},
		{"equal rewards everywhere", []objective.Rewards{group(2, 2), group(2, 2)}, [][]float64{{0, 0}, {0, 0}}},
		{"a group without spread in a batch with one", []objective.Rewards{group(1, 1), group(4, 4)}, [][]float64{{0, 0}, {0, 0}}},
		{"a null reward is in no statistic", []objective.Rewards{group(1, 3), {Values: []float64{2, math.NaN(), 6}, Valid: []bool{true, false, true}}}, [][]float64{{-1 / std, 1 / std}, {-2 / std, 0, 2 / std}}},
		{"no groups", nil, [][]float64{}},
		{"an empty group", []objective.Rewards{{}}, [][]float64{{}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := objective.Advantages(test.groups, objective.NormalizeBatch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, tenDecimals()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A single member of a group has no signal, but its reward is part of the
// batch: 1, 3 and 5 have std 2.
func TestAdvantagesByBatchCountsLonelyMembers(t *testing.T) {
	got, spreads, err := objective.Advantages([]objective.Rewards{group(1, 3), group(5)}, objective.NormalizeBatch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{-1 / 2.0001, 1 / 2.0001}, {0}}, got, tenDecimals()); diff != "" {
		t.Error(diff)
	}
	if spreads[1].Std != nil || spreads[1].ZeroStd {
		t.Errorf("the lonely member's group has a spread: %+v", spreads[1])
	}
}

func TestAdvantagesRefuse(t *testing.T) {
	tests := []struct {
		name string
		g    objective.Rewards
		by   objective.Normalization
	}{
		{"an unknown normalization", group(1, 2), "mean"},
		{"not a number", group(1, math.NaN()), objective.NormalizeGroup},
		{"infinity", group(1, math.Inf(1)), objective.NormalizeGroup},
		{"validity of another length", objective.Rewards{Values: []float64{1, 2}, Valid: []bool{true}}, objective.NormalizeGroup},
		{"rewards whose difference overflows", group(math.MaxFloat64, -math.MaxFloat64), objective.NormalizeNone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := objective.Advantages([]objective.Rewards{test.g}, test.by)
			var mistake *tools.Error
			if !errors.As(err, &mistake) || mistake.Code != tools.Invalid {
				t.Errorf("error %v, want one of the caller", err)
			}
		})
	}
}

func TestAdvantagesProperties(t *testing.T) {
	for _, by := range []objective.Normalization{objective.NormalizeGroup, objective.NormalizeBatch, objective.NormalizeNone} {
		t.Run(string(by), rapid.MakeCheck(func(t *rapid.T) { checkAdvantages(t, by) }))
	}
}

func checkAdvantages(t *rapid.T, by objective.Normalization) {
	rewards := rapid.SliceOfN(rapid.Float64Range(-100, 100), 2, 12).Draw(t, "rewards")
	advantages := advantagesOf(t, rewards, by)
	sum := 0.0
	for i, a := range advantages {
		sum += a
		for j, b := range advantages {
			if rewards[i] < rewards[j] && a > b {
				t.Fatalf("rewards %v < %v have advantages %v > %v", rewards[i], rewards[j], a, b)
			}
		}
	}
	if math.Abs(sum) > 1e-6 {
		t.Fatalf("advantages sum to %v", sum)
	}
	order := rapid.Permutation(indices(len(rewards))).Draw(t, "order")
	shift := rapid.Float64Range(-1000, 1000).Draw(t, "shift")
	moved := make([]float64, len(rewards))
	for to, from := range order {
		moved[to] = rewards[from] + shift
	}
	_, spreads, _ := objective.Advantages([]objective.Rewards{{Values: rewards}}, by)
	if *spreads[0].Std < 1e-6 {
		return // so near to the threshold that the shift's rounding decides
	}
	for to, a := range advantagesOf(t, moved, by) {
		if want := advantages[order[to]]; math.Abs(a-want) > 1e-6 {
			t.Fatalf("moved by %v to place %d: advantage %v, was %v", shift, to, a, want)
		}
	}
}

func advantagesOf(t *rapid.T, rewards []float64, by objective.Normalization) []float64 {
	got, _, err := objective.Advantages([]objective.Rewards{{Values: slices.Clone(rewards)}}, by)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// One criterion is right for everybody but the last, the other for the first
// alone: summed, the two middle completions and the last are 1, 1, 0; apart,
// each criterion keeps its own scale. By hand: 1,1,0 has mean 2/3, std √(1/3);
// 1,0,0 has mean 1/3 and the same std.
func TestByCriterion(t *testing.T) {
	a := []objective.Rewards{group(1, 1, 0)}
	b := []objective.Rewards{group(1, 0, 0)}
	std := math.Sqrt(1.0/3) + 1e-4
	got, err := objective.ByCriterion([][]objective.Rewards{a, b}, []float64{1, -2}, objective.NormalizeGroup)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{(1.0/3 - 2*2.0/3) / std, (1.0/3 + 2*1.0/3) / std, (-2.0/3 + 2*1.0/3) / std}}
	if diff := cmp.Diff(want, got, tenDecimals()); diff != "" {
		t.Error(diff)
	}
	alone, err := objective.ByCriterion([][]objective.Rewards{a}, []float64{1}, objective.NormalizeBatch)
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := objective.Advantages(a, objective.NormalizeBatch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, alone); diff != "" {
		t.Errorf("one criterion of weight 1 differs from its own advantages: %s", diff)
	}
}

func TestByCriterionRefuse(t *testing.T) {
	tests := []struct {
		name     string
		criteria [][]objective.Rewards
		weights  []float64
	}{
		{"a weight is missing", [][]objective.Rewards{{group(1, 2)}}, nil},
		{"another number of groups", [][]objective.Rewards{{group(1, 2)}, {}}, []float64{1, 1}},
		{"another number of completions", [][]objective.Rewards{{group(1, 2)}, {group(1)}}, []float64{1, 1}},
		{"a weight that is no number", [][]objective.Rewards{{group(1, 2)}}, []float64{math.NaN()}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := objective.ByCriterion(test.criteria, test.weights, objective.NormalizeGroup); err == nil {
				t.Error("accepted")
			}
		})
	}
}
