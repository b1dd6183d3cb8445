package objective_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/objective"
)

// rows picks some completions of the golden batch.
func rows(g golden, from, to int) objective.Tokens {
	l := g.Loss
	return objective.Tokens{
		LogProbs: l.Logp[from:to], Old: l.OldLogp[from:to], Ref: l.RefLogp[from:to],
		Mask: l.Mask[from:to], Advantages: l.Advantages[from:to],
	}
}

func TestMeterInPiecesIsTheWhole(t *testing.T) {
	g := readGolden(t)
	n := len(g.Loss.Logp)
	for _, level := range []string{objective.LevelToken, objective.LevelSequence} {
		for _, kind := range []string{objective.LossGRPO, objective.LossBNPO, objective.LossDrGRPO, objective.LossDAPO} {
			t.Run(level+" "+kind, func(t *testing.T) {
				c := objective.Default()
				c.Type, c.Level, c.MaxCompletionLength = kind, level, 8
				want, err := objective.Compute(rows(g, 0, n), c)
				if err != nil {
					t.Fatal(err)
				}
				want.Gradient = nil
				m, err := objective.NewMeter(c)
				if err != nil {
					t.Fatal(err)
				}
				for _, cut := range [][2]int{{0, 2}, {2, 2}, {2, 3}, {3, n}} {
					if err := m.Add(rows(g, cut[0], cut[1])); err != nil {
						t.Fatal(err)
					}
				}
				got, err := m.Loss()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, tenDecimals()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestEmptyMeterKnowsNothing(t *testing.T) {
	m, err := objective.NewMeter(objective.Default())
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Loss()
	if diff := cmp.Diff(objective.Loss{}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestConfigJSON(t *testing.T) {
	high := 0.28
	tests := []struct {
		name, text string
		want       objective.Config
		refused    bool
	}{
		{"defaults", `{}`, objective.Config{Type: "dapo", Epsilon: 0.2, Beta: 0.05, KL: "k3", Level: "token"}, false},
		{"zero means zero", `{"beta":0,"epsilon":0}`, objective.Config{Type: "dapo", KL: "k3", Level: "token"}, false},
		{"everything", `{"type":"grpo","epsilon":0.1,"epsilon_high":0.28,"beta":1,"kl":"k1","level":"sequence","max_completion_length":512}`, objective.Config{Type: "grpo", Epsilon: 0.1, EpsilonHigh: &high, Beta: 1, KL: "k1", Level: "sequence", MaxCompletionLength: 512}, false},
		{"an unknown field", `{"epsilonn":1}`, objective.Config{}, true},
		{"a wrong type", `{"beta":"1"}`, objective.Config{}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got objective.Config
			err := json.Unmarshal([]byte(test.text), &got)
			if (err != nil) != test.refused {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
