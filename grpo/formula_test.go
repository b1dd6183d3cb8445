package grpo_test

import (
	"strings"
	"testing"

	"toolgym/grpo"
)

// own makes a rubric of one criterion with a formula.
func own(formula string, weight float64) *grpo.Rubric {
	return &grpo.Rubric{Criteria: map[string]grpo.Criterion{"own": {Weight: weight, Formula: formula}}}
}

func TestFormulas(t *testing.T) {
	right := text("so " + call(`{"a":1,"b":2}`) + call(`{"a":1,"b":3}`))
	tests := []struct {
		name, formula, completion string
		want                      float64
	}{
		{"a constant", "2", right, 2},
		{"a criterion", "schema * 2", right, 2},
		{"a condition that holds", "calls_parsed > calls_needed", right, 1},
		{"one that does not", "completion == 1", right, 0},
		{"a choice", `format == 1 ? 0.5 : -0.5`, right, 0.5},
		{"containment", "matched / calls_needed", right, 1},
		{"the text", `text contains "<tool_call>"`, right, 1},
		{"a pattern", `text matches "^so "`, right, 1},
		{"the answer", `answer == "so"`, text(" so\n"), 1},
		{"calls of a tool", `called("add")`, right, 2},
		{"functions", `max(1, min(5, abs(-3))) + len("ab") + round(0.4)`, right, 5},
		{"turns", `turns`, episode(`{"a":1,"b":2}`), 3},
		{"tokens", `tokens`, episode(`{"a":1,"b":2}`), 35},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, oneCall, test.completion)
			r.Rubric = own(test.formula, 10)
			got := score(t, r).Groups[0].Completions[0]
			own, _ := got.Criteria.Named("own")
			if own.Value != test.want || got.Reward == nil || *got.Reward != 10*test.want {
				t.Errorf("%+v, reward %v, want the value %v", own, got.Reward, test.want)
			}
		})
	}
}

// A criterion that cannot be worked out is a failure with a reason where it
// is paid for, and a note where it is not; it is never 0.
func TestFailingCriteria(t *testing.T) {
	ramp := &grpo.Rubric{Criteria: map[string]grpo.Criterion{"length": {Weight: -1, Unit: grpo.UnitToken, Soft: 1, Max: 2}}}
	tests := []struct {
		name   string
		rubric *grpo.Rubric
		reason string
	}{
		{"division by zero", own("1 / calls_emitted", 1), "+Inf"},
		{"no number", own("calls_emitted / calls_emitted", 1), "NaN"},
		{"tokens that nobody counted", own("tokens", 1), "nobody counted"},
		{"a length in tokens that nobody counted", ramp, "nobody counted"},
		{"a weight that is too large", own("10", 1e308), "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, oneCall, text("hello"), text("hello again"))
			r.Rubric = test.rubric
			got := score(t, r).Groups[0]
			c := got.Completions[0]
			if c.Reward != nil || c.Failure == nil || c.Failure.Kind != grpo.FailureHarness || !strings.Contains(c.Failure.Reason, test.reason) {
				t.Errorf("reward %v, failure %+v", c.Reward, c.Failure)
			}
			if got.Valid != 0 || got.Mean != nil {
				t.Errorf("the group has a mean: %+v", got.Spread)
			}
		})
	}
	t.Run("unpaid", func(t *testing.T) {
		r := request(t, oneCall, text("hello"))
		r.Rubric = own("1 / calls_emitted", 0)
		got := score(t, r).Groups[0].Completions[0]
		if own, _ := got.Criteria.Named("own"); own.Error == "" || got.Reward == nil || *got.Reward != 0 {
			t.Errorf("%+v, reward %v", own, got.Reward)
		}
	})
}

func TestLengthByTokens(t *testing.T) {
	tests := []struct {
		name   string
		tokens string
		want   float64
	}{
		{"short", "100", 0}, {"at the soft bound", "256", 0}, {"half way", "384", -0.5}, {"at the end", "512", -1}, {"beyond", "9999", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, oneCall, `{"text":"x","tokens":`+test.tokens+`}`)
			r.Rubric = &grpo.Rubric{Criteria: map[string]grpo.Criterion{"length": {Weight: -1, Unit: grpo.UnitToken, Soft: 256, Max: 512}}}
			if got := score(t, r).Groups[0].Completions[0].Reward; got == nil || *got != test.want {
				t.Errorf("reward %v, want %v", got, test.want)
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		r := request(t, oneCall, text("x"))
		r.Rubric = &grpo.Rubric{Criteria: map[string]grpo.Criterion{"length": {Weight: -1, Unit: grpo.UnitOff}}}
		if got := score(t, r).Groups[0].Completions[0].Reward; got == nil || *got != 0 {
			t.Errorf("reward %v, want 0", got)
		}
	})
}

// A formula's patterns are known when it is compiled, and small; what it takes for
// a completion is counted before it is taken.
func TestFormulasAreBounded(t *testing.T) {
	for _, test := range []struct{ name, formula, want string }{
		{"a large pattern", `text matches "(` + strings.Repeat("[a-z ]{1000}|", 20) + `x)$"`, "the patterns of the formula need"},
		{"many small patterns", strings.Repeat(`text matches "a{90}" ? 1 : (`, 30) + "0" + strings.Repeat(")", 30), "the patterns of the formula need"},
		{"a pattern of the completion's", "text matches text", "the pattern of matches is made by the formula"},
		{"a pattern that is made", `text matches lower("A")`, "the pattern of matches is made by the formula"},
		{"no pattern", `text matches "("`, "parsing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := own(test.formula, 1).Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v; want %q", err, test.want)
			}
		})
	}
	doubled := func(n int) string {
		return "len(" + strings.Repeat("upper(lower(", n) + "text" + strings.Repeat("))", n) + ")"
	}
	for _, test := range []struct {
		name, formula string
		copies, bytes int
		failed        bool
	}{
		{"a pass over a megabyte", "len(lower(text))", 1, 1 << 20, false},
		{"a pattern over 100 kB", `text matches "^.*[0-9]{3}-[0-9]{4} x+$"`, 1, 100 << 10, false},
		{"50 formulas of 80 passes over 50 kB", doubled(40), 50, 50 << 10, false},
		{"50 formulas of 80 passes over a megabyte", doubled(40), 50, 1 << 20, true},
		{"a pattern of 600 instructions over a megabyte", `text matches "[a-z ]{150}$"`, 1, 1 << 20, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rubric := grpo.Rubric{Criteria: map[string]grpo.Criterion{}}
			for i := range test.copies {
				rubric.Criteria["own"+strings.Repeat("x", i)] = grpo.Criterion{Weight: 1, Formula: test.formula}
			}
			r := request(t, oneCall, text(strings.Repeat("ab ", test.bytes/3)))
			r.Rubric = &rubric
			got := score(t, r).Groups[0].Completions[0]
			if failed := got.Failure != nil && strings.Contains(got.Failure.Reason, "the formulas take more than"); failed != test.failed {
				t.Errorf("got failure %v; want too many steps: %t", got.Failure, test.failed)
			}
		})
	}
}
