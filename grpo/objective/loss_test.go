package objective_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/grpo/objective"
	"toolgym/tools"
)

// Two completions worked out by hand. Ratios: 2 and 1 in the first (advantage
// 1), 1/2 in the second (advantage −1). Clipped at 0.8 and 1.2, the token
// losses are −1.2, −1, +0.8; the sums by loss follow.
func TestLossByHand(t *testing.T) {
	ln2 := math.Log(2)
	tokens := objective.Tokens{
		LogProbs: [][]float64{{-1, -1}, {-1 - ln2}}, Old: [][]float64{{-1 - ln2, -1}, {-1}},
		Advantages: []float64{1, -1},
	}
	tests := []struct {
		name string
		o    objective.Config
		want float64
	}{
		{"grpo", objective.Config{Type: objective.LossGRPO}, (-2.2/2 + 0.8) / 2},
		{"bnpo", objective.Config{Type: objective.LossBNPO}, (-2.2 + 0.8) / 3},
		{"dapo", objective.Config{Type: objective.LossDAPO}, (-2.2 + 0.8) / 3},
		{"dr_grpo", objective.Config{Type: objective.LossDrGRPO, MaxCompletionLength: 10}, (-2.2 + 0.8) / 20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.o.Epsilon, test.o.KL, test.o.Level = 0.2, objective.KL1, objective.LevelToken
			loss, err := objective.Compute(tokens, test.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, loss.Value, tenDecimals()); diff != "" {
				t.Error(diff)
			}
			want := &objective.Clipping{Low: 1.0 / 3, High: 1.0 / 3, Region: 2.0 / 3}
			if diff := cmp.Diff(want, loss.Clip, tenDecimals()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// At sequence level the first completion's ratio is √2, above 1.2, and the
// second's 1/2, below 0.8: each is one of two completions.
func TestClippingCountsCompletionsAtSequenceLevel(t *testing.T) {
	ln2 := math.Log(2)
	o := objective.Default()
	o.Level, o.Beta = objective.LevelSequence, 0
	loss, err := objective.Compute(objective.Tokens{
		LogProbs: [][]float64{{-1, -1}, {-1 - ln2}}, Old: [][]float64{{-1 - ln2, -1}, {-1}}, Advantages: []float64{1, -1},
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&objective.Clipping{Low: 0.5, High: 0.5, Region: 1}, loss.Clip); diff != "" {
		t.Error(diff)
	}
}

func TestLossKeepsWhatItCanNotKnowNil(t *testing.T) {
	one := [][]float64{{-1}}
	tests := []struct {
		name            string
		tokens          objective.Tokens
		beta            float64
		value, kl, clip bool
	}{
		{"all there", objective.Tokens{LogProbs: one, Old: one, Ref: one}, 0.05, true, true, true},
		{"no reference", objective.Tokens{LogProbs: one, Old: one}, 0.05, false, false, true},
		{"no reference and none asked for", objective.Tokens{LogProbs: one, Old: one}, 0, true, false, true},
		{"no old policy", objective.Tokens{LogProbs: one, Ref: one}, 0.05, true, true, false},
		{"everything masked", objective.Tokens{LogProbs: one, Old: one, Ref: one, Mask: [][]int{{0}}}, 0.05, true, true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := objective.Default()
			o.Beta = test.beta
			test.tokens.Advantages = []float64{1}
			loss, err := objective.Compute(test.tokens, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := [3]bool{loss.Value != nil, loss.KL != nil, loss.Clip != nil}; got != [3]bool{test.value, test.kl, test.clip} {
				t.Errorf("known (value, kl, clip): %v, want %v", got, [3]bool{test.value, test.kl, test.clip})
			}
		})
	}
}

func TestLossRefuses(t *testing.T) {
	good := func() (objective.Tokens, objective.Config) {
		rows := [][]float64{{-1, -2}}
		return objective.Tokens{LogProbs: rows, Old: rows, Ref: rows, Mask: [][]int{{1, 1}}, Advantages: []float64{1}}, objective.Default()
	}
	tests := []struct {
		name  string
		spoil func(*objective.Tokens, *objective.Config)
		where string
	}{
		{"an unknown loss", func(_ *objective.Tokens, o *objective.Config) { o.Type = "ppo" }, "type"},
		{"an unknown level", func(_ *objective.Tokens, o *objective.Config) { o.Level = "word" }, "level"},
		{"an unknown estimator", func(_ *objective.Tokens, o *objective.Config) { o.KL = "k4" }, "kl"},
		{"a negative epsilon", func(_ *objective.Tokens, o *objective.Config) { o.Epsilon = -1 }, "epsilon"},
		{"beta that is no number", func(_ *objective.Tokens, o *objective.Config) { o.Beta = math.NaN() }, "beta"},
		{"dr_grpo without its length", func(_ *objective.Tokens, o *objective.Config) { o.Type = objective.LossDrGRPO }, "max_completion_length"},
		{"old of another length", func(t *objective.Tokens, _ *objective.Config) { t.Old = [][]float64{{-1}} }, "old_logprobs"},
		{"reference rows missing", func(t *objective.Tokens, _ *objective.Config) { t.Ref = [][]float64{} }, "ref_logprobs"},
		{"mask of another length", func(t *objective.Tokens, _ *objective.Config) { t.Mask = [][]int{{1}} }, "mask"},
		{"mask of twos", func(t *objective.Tokens, _ *objective.Config) { t.Mask = [][]int{{1, 2}} }, "mask"},
		{"an infinite log-probability", func(t *objective.Tokens, _ *objective.Config) { t.LogProbs = [][]float64{{math.Inf(-1), -1}} }, "logprobs"},
		{"a missing advantage", func(t *objective.Tokens, _ *objective.Config) { t.Advantages = nil }, "advantages"},
		{"a ratio that overflows", func(t *objective.Tokens, _ *objective.Config) {
			t.Old, t.Advantages = [][]float64{{-1e4, -1}}, []float64{-1}
		}, "logprobs"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tokens, config := good()
			test.spoil(&tokens, &config)
			_, err := objective.Compute(tokens, config)
			var mistake *tools.Error
			if !errors.As(err, &mistake) || mistake.Where != test.where {
				t.Errorf("error %v, want one about %s", err, test.where)
			}
		})
	}
}

// TestLossGradient compares the gradient with central differences, for every
// loss, level and estimator. Ratios near the clipping edge have a kink there
// and are left out.
func TestLossGradient(t *testing.T) {
	types := []string{objective.LossGRPO, objective.LossBNPO, objective.LossDrGRPO, objective.LossDAPO}
	rapid.Check(t, func(t *rapid.T) {
		o := objective.Config{
			Type: rapid.SampledFrom(types).Draw(t, "type"), Level: rapid.SampledFrom([]string{objective.LevelToken, objective.LevelSequence}).Draw(t, "level"),
			KL: rapid.SampledFrom([]string{objective.KL1, objective.KL2, objective.KL3}).Draw(t, "kl"), Epsilon: 0.2, Beta: 0.3, MaxCompletionLength: 7,
		}
		row := func(name string) [][]float64 {
			draw := rapid.SliceOfN(rapid.Float64Range(-3, -0.1), 3, 3)
			return [][]float64{draw.Draw(t, name), draw.Draw(t, name)}
		}
		tokens := objective.Tokens{LogProbs: row("logp"), Old: row("old"), Ref: row("ref"), Mask: [][]int{{1, 0, 1}, {1, 1, 1}}, Advantages: []float64{1.5, -0.5}}
		loss, err := objective.Compute(tokens, o)
		if err != nil {
			t.Fatal(err)
		}
		const h = 1e-6
		for i := range tokens.LogProbs {
			for j := range tokens.LogProbs[i] {
				numeric, smooth := slope(t, tokens, o, i, j, h)
				if smooth && math.Abs(numeric-loss.Gradient[i][j]) > 1e-5 {
					t.Fatalf("token %d of completion %d: gradient %v, differences say %v", j, i, loss.Gradient[i][j], numeric)
				}
			}
		}
	})
}

// slope is the central difference; smooth is false where the one-sided ones
// disagree.
func slope(t *rapid.T, tokens objective.Tokens, o objective.Config, i, j int, h float64) (numeric float64, smooth bool) {
	at := func(d float64) float64 {
		old := tokens.LogProbs[i][j]
		tokens.LogProbs[i][j] = old + d
		defer func() { tokens.LogProbs[i][j] = old }()
		loss, err := objective.Compute(tokens, o)
		if err != nil {
			t.Fatal(err)
		}
		return *loss.Value
	}
	up, here, down := at(h), at(0), at(-h)
	return (up - down) / (2 * h), math.Abs((up-here)-(here-down)) < 1e-9
}
