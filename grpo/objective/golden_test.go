package objective_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/objective"
)

// golden is testdata/grpo.json, worked out with PyTorch in float64 and written
// with ten decimals.
type golden struct {
	Advantages []struct {
		Rewards    []*float64
		Valid      int
		Mean, Std  *float64
		ZeroStd    bool `json:"zero_std"`
		Advantages map[string][]float64
	}
	Loss struct {
		Logp       [][]float64
		OldLogp    [][]float64 `json:"old_logp"`
		RefLogp    [][]float64 `json:"ref_logp"`
		Mask       [][]int
		Advantages []float64
		Rows       []goldenLoss
	}
}

type goldenLoss struct {
	Level       string                 `json:"importance_level"`
	EpsilonLow  float64                `json:"epsilon_low"`
	EpsilonHigh float64                `json:"epsilon_high"`
	Beta        float64                `json:"beta"`
	MaxLength   int                    `json:"max_completion_length"`
	Losses      map[string]float64     `json:"losses"`
	KLMean      float64                `json:"kl_mean"`
	K1          float64                `json:"kl_k1"`
	K2          float64                `json:"kl_k2"`
	ClipLow     float64                `json:"clip_low"`
	ClipHigh    float64                `json:"clip_high"`
	Gradient    map[string][][]float64 `json:"grad_logp"`
}

func readGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/grpo.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Advantages) == 0 || len(g.Loss.Rows) == 0 {
		t.Fatal("the golden file is empty")
	}
	return g
}

// tenDecimals compares numbers as the golden file wrote them.
func tenDecimals() cmp.Option { return cmpopts.EquateApprox(0, 1e-9) }

// split turns null rewards into invalid ones.
func split(rewards []*float64) objective.Rewards {
	r := objective.Rewards{Values: make([]float64, len(rewards)), Valid: make([]bool, len(rewards))}
	for i, reward := range rewards {
		if reward != nil {
			r.Values[i], r.Valid[i] = *reward, true
		}
	}
	return r
}

func TestAdvantagesGolden(t *testing.T) {
	for row, want := range readGolden(t).Advantages {
		for by, advantages := range want.Advantages {
			t.Run(fmt.Sprintf("row %d by %s", row, by), func(t *testing.T) {
				got, spreads, err := objective.Advantages([]objective.Rewards{split(want.Rewards)}, objective.Normalization(by))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([][]float64{advantages}, got, tenDecimals()); diff != "" {
					t.Error(diff)
				}
				spread := objective.Spread{Size: len(want.Rewards), Valid: want.Valid, Mean: want.Mean, Std: want.Std, ZeroStd: want.ZeroStd}
				if diff := cmp.Diff([]objective.Spread{spread}, spreads, tenDecimals()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestLossGolden(t *testing.T) {
	g := readGolden(t).Loss
	tokens := objective.Tokens{LogProbs: g.Logp, Old: g.OldLogp, Ref: g.RefLogp, Mask: g.Mask, Advantages: g.Advantages}
	for _, row := range g.Rows {
		for kind, want := range row.Losses {
			t.Run(row.Level+" "+kind, func(t *testing.T) {
				loss, err := objective.Compute(tokens, objective.Config{
					Type: kind, Level: row.Level, KL: objective.KL3, Beta: row.Beta,
					Epsilon: row.EpsilonLow, EpsilonHigh: &row.EpsilonHigh, MaxCompletionLength: row.MaxLength,
				})
				if err != nil {
					t.Fatal(err)
				}
				expected := objective.Loss{
					Value: &want, Gradient: row.Gradient[kind],
					KL:   &objective.Divergence{K1: row.K1, K2: row.K2, K3: row.KLMean},
					Clip: &objective.Clipping{Low: row.ClipLow, High: row.ClipHigh, Region: row.ClipLow + row.ClipHigh},
				}
				if diff := cmp.Diff(expected, loss, tenDecimals()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
