package audit_test

import (
	"errors"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

func envs() tools.Specs { return tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()} }

func run(t *testing.T, rubric grpo.Rubric) audit.Report {
	t.Helper()
	report, err := audit.Run(t.Context(), envs(), rubric)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestTheDefaultRubricHolds(t *testing.T) {
	report := run(t, grpo.DefaultRubric())
	for _, f := range report.Holes() {
		t.Error(f)
	}
	for _, f := range report.Findings {
		if f.NearMiss < 2.45-1e-9 || f.NearMiss > 2.45+1e-9 {
			t.Errorf("the near miss on %s is worth %v, want 2.45", f.Task, f.NearMiss)
		}
		if f.Reward == nil {
			t.Errorf("%s: an attack that is not scored proves nothing", f)
		}
	}
	if !report.Passed || len(report.Findings) < 15 {
		t.Errorf("passed %v with %d findings", report.Passed, len(report.Findings))
	}
}

func TestWeakRubricsFail(t *testing.T) {
	formula := func(f string) grpo.Rubric {
		r := grpo.DefaultRubric()
		r.Criteria["own"] = grpo.Criterion{Weight: 2, Formula: f}
		return r
	}
	counts := grpo.DefaultRubric()
	counts.Criteria["calls_emitted"] = grpo.Criterion{Weight: 0.1}
	tests := []struct {
		name   string
		rubric grpo.Rubric
		attack string
	}{
		{"pays for tags", formula(`text contains "<answer>"`), "tags around a near miss"},
		{"pays for reasoning tags", formula(`text contains "<think>" and text contains "</think>"`), "tags around a near miss"},
		{"pays for call counts", counts, "ten guesses"},
		{"pays for containment", formula(`matched / max(1, calls_needed)`), "the right call and nine others"},
		{"pays for length", formula(`len(text) / 10000`), "talk around a near miss"},
		{"pays by the token", paysByToken(1), "talk around a near miss"},
		{"pays for a spoken answer", formula(`trim(answer) == "" ? 0 : 1`), "ten answers"},
		{"cannot score what has no call", formula("calls_valid / calls_parsed"), "empty text"},
		{"pays for repetition", formula("repetition"), "repeated calls"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, test.rubric)
			if report.Passed {
				t.Fatal("the rubric passed")
			}
			for _, f := range report.Holes() {
				if f.Attack == test.attack {
					text := f.String()
					if !strings.Contains(text, test.attack) || (f.Reward != nil) != strings.Contains(text, "is above the near miss's") {
						t.Errorf("the report says %q", text)
					}
					return
				}
			}
			t.Errorf("%q is not among the holes %v", test.attack, report.Holes())
		})
	}
}

// paysByToken is the default rubric with another price of length.
func paysByToken(weight float64) grpo.Rubric {
	r := grpo.DefaultRubric()
	r.Criteria["length"] = grpo.Criterion{Weight: weight, Unit: grpo.UnitToken, Soft: 100, Max: 10_000}
	return r
}

func TestCostlyTokensHold(t *testing.T) {
	for _, f := range run(t, paysByToken(-0.5)).Holes() {
		t.Error(f)
	}
}

func TestRunRefusesABrokenRubric(t *testing.T) {
	unscored := grpo.DefaultRubric()
	unscored.Criteria["own"] = grpo.Criterion{Weight: 1, Formula: "1 / (calls_needed - calls_needed)"}
	for name, rubric := range map[string]grpo.Rubric{"without criteria": {}, "that scores nothing": unscored} {
		t.Run(name, func(t *testing.T) {
			_, err := audit.Run(t.Context(), envs(), rubric)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
				t.Errorf("error %v, want an invalid one", err)
			}
		})
	}
}
