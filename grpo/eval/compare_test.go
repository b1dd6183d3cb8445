package eval_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toolgym/grpo/eval"
	"toolgym/tools"
)

func compare(t *testing.T, first, second []eval.Trial) eval.Comparison {
	t.Helper()
	c, err := eval.Compare(first, second, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name          string
		first, second []string
		difference, p float64
		better        string // empty: none
		sentence      string
	}{
		{"nine tasks against none", slices.Repeat([]string{"F"}, 9), slices.Repeat([]string{"P"}, 9), 1, 2.0 / 512, "b", "b is better: b passes 100.0 % and a 0.0 % of 9 shared tasks (difference +100.0 points"},
		{"the first is the better one", slices.Repeat([]string{"P"}, 9), slices.Repeat([]string{"F"}, 9), -1, 2.0 / 512, "a", "a is better: a passes 100.0 %"},
		{"five tasks are too few", slices.Repeat([]string{"F"}, 5), slices.Repeat([]string{"P"}, 5), 1, 2.0 / 32, "", "The difference may be chance"},
		{"the same", []string{"P", "F", "P"}, []string{"P", "F", "P"}, 0, 1, "", "No difference"},
		{"several trials: signs flipped", slices.Repeat([]string{"PF"}, 6), slices.Repeat([]string{"PP"}, 6), 0.5, 2.0 / 64, "b", "b is better"},
		{"unscored tasks are not shared", []string{"P", "i", "F"}, []string{"P", "P", "h"}, 0, 1, "", "No verdict: under 95 % of the trials of b could be scored"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := compare(t, run("a", test.first...), run("b", test.second...))
			if math.Abs(c.Difference-test.difference) > 1e-12 || math.Abs(c.P-test.p) > 1e-12 {
				t.Errorf("difference %v, p %v; want %v, %v", c.Difference, c.P, test.difference, test.p)
			}
			if c.Significant != (test.better != "") || (c.Better != nil) != c.Significant || c.Better != nil && *c.Better != test.better {
				t.Errorf("significant %v, better %v, want %q", c.Significant, c.Better, test.better)
			}
			if !strings.HasPrefix(c.Sentence, test.sentence) {
				t.Errorf("sentence %q", c.Sentence)
			}
			if c.Interval[0] >= c.Interval[1] || c.Interval[0] > c.Difference || c.Interval[1] < c.Difference {
				t.Errorf("interval %v around %v", c.Interval, c.Difference)
			}
		})
	}
}

func TestCompareRefusesRunsWithNothingInCommon(t *testing.T) {
	_, err := eval.Compare(run("a", "P"), nil, rand.NewPCG(1, 1))
	var refused *tools.Error
	if !errors.As(err, &refused) || refused.Code != tools.Invalid {
		t.Errorf("got %v", err)
	}
}

// Turned round, a comparison says the same with the other sign.
func TestCompareKnowsNoDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "tasks")
		line := rapid.StringOfN(rapid.RuneFrom([]rune("PF")), 2, 2, -1)
		first := run("a", rapid.SliceOfN(line, n, n).Draw(t, "first")...)
		second := run("b", rapid.SliceOfN(line, n, n).Draw(t, "second")...)
		there, err := eval.Compare(first, second, rand.NewPCG(1, 1))
		back, errBack := eval.Compare(second, first, rand.NewPCG(1, 1))
		if err != nil || errBack != nil {
			t.Fatal(err, errBack)
		}
		if math.Abs(there.Difference+back.Difference) > 1e-12 || math.Abs(there.P-back.P) > 1e-12 || there.Significant != back.Significant {
			t.Fatalf("%+v, turned round %+v", there, back)
		}
	})
}
