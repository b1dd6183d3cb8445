package arithmetic_test

import (
	"fmt"
	"math"
	"testing"

	"toolgym/tools/arithmetic"
)

func TestShortestAndHasShortcut(t *testing.T) {
	drawn := func(operands [5]int, operators ...int) arithmetic.Problem {
		p := arithmetic.Problem{Stage: 4, Operands: operands}
		copy(p.Operators[:], operators)
		return p
	}
	tests := []struct {
		name        string
		p           arithmetic.Problem
		shortest    int
		hasShortcut bool
	}{
		{"4*2+7", arithmetic.Published(0, [5]int{4, 2, 7}), 3, false},
		{"c = 0: MUL ANS", arithmetic.Published(0, [5]int{4, 2, 0}), 2, true},
		{"1*0+1: ADD ANS", arithmetic.Published(0, [5]int{1, 0, 1}), 2, true},
		{"(4*2+7)-3", arithmetic.Published(1, [5]int{4, 2, 7, 3}), 4, false},
		{"d = 0", arithmetic.Published(1, [5]int{4, 2, 7, 0}), 3, true},
		{"(7*9+6)-(8*4)", arithmetic.Published(2, [5]int{7, 9, 6, 8, 4}), 7, false},
		{"d*e = d: MUL ADD SUB ANS", arithmetic.Published(2, [5]int{7, 9, 6, 8, 1}), 4, true},
		{"((7+9)-6)-(8*4)", drawn([5]int{7, 9, 6, 8, 4}, add, sub, sub, mul), 7, false},
		{"((7*9)+6)+(8+4): five tokens for all operands", drawn([5]int{7, 9, 6, 8, 4}, mul, add, add, add), 5, false},
		{"((7*9)+6)+(8+0): four for these", drawn([5]int{7, 9, 6, 8, 0}, mul, add, add, add), 4, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.p.Shortest(); got != test.shortest {
				t.Errorf("shortest plan has %d tokens, want %d", got, test.shortest)
			}
			if got := test.p.HasShortcut(); got != test.hasShortcut {
				t.Errorf("HasShortcut is %v, want %v", got, test.hasShortcut)
			}
		})
	}
}

// TestShortcutsOfAllOperators checks for all operators of stage 4 that at most 90 %
// of the tasks have a shortcut, since training leaves those out, and that the
// generic operands of shortcut.go need as many tokens as the longest plan for digits.
func TestShortcutsOfAllOperators(t *testing.T) {
	for i := range 81 {
		p := arithmetic.Problem{Stage: 4, Operators: [4]int{mul + i%3, mul + i/3%3, mul + i/9%3, mul + i/27}}
		shortcuts, longest := 0, 0
		r := arithmetic.Seeded(uint64(i))
		const draws = 200
		for range draws {
			p.Operands = arithmetic.Draw(r, 0).Operands
			shortcuts += map[bool]int{true: 1}[p.HasShortcut()]
			longest = max(longest, p.Shortest())
		}
		p.Operands = [5]int{1_000_003, 10_007_777, 123_457, 98_765_431, 7_654_321}
		if generic := p.Shortest(); generic != longest {
			t.Errorf("operators %v: %d tokens for generic operands, up to %d for digits", p.Operators, generic, longest)
		}
		if shortcuts > draws*9/10 {
			t.Errorf("operators %v: %d of %d tasks have a shortcut", p.Operators, shortcuts, draws)
		}
	}
}

// TestBestFixedPlans tries every plan of up to 6 tokens on 300 tasks per stage. Only
// plans that end with [ANS] get a reward.
func TestBestFixedPlans(t *testing.T) {
	tests := []struct {
		stage int
		plan  string
		mean  float64
	}{
		{0, "[MUL] [ANS]", 1.06},
		{1, "[MUL] [ADD] [ANS]", 1.12},
		{2, "[MUL] [ADD] [SUB] [ANS]", 1.037},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("stage %d", test.stage), func(t *testing.T) {
			r := arithmetic.Seeded(1)
			totals := map[string]float64{}
			const tasks = 300
			for range tasks {
				addUp(totals, "", arithmetic.NewDocumented(arithmetic.Draw(r, test.stage)), arithmetic.DocumentedPlan)
			}
			for plan, total := range totals {
				if total > totals[test.plan]+1e-6 {
					t.Errorf("%s has the mean reward %v, more than %s with %v", plan, total/tasks, test.plan, totals[test.plan]/tasks)
				}
			}
			if mean := totals[test.plan] / tasks; math.Abs(mean-test.mean) > 0.02 {
				t.Errorf("mean reward %v, want about %v", mean, test.mean)
			}
		})
	}
}

// addUp adds the rewards of all plans that extend the given plan, which m has
// played, by at most the given number of tokens.
func addUp(totals map[string]float64, plan string, m arithmetic.DocumentedMachine, tokens int) {
	answered := m
	if reward, _ := answered.Step(ans); reward > 0 {
		totals[plan+"[ANS]"] += reward
	}
	for token := mul; tokens > 1 && token <= rcl; token++ {
		next := m
		next.Step(token)
		if token != ans && next != m {
			addUp(totals, plan+arithmetic.TokenText(token)+" ", next, tokens-1)
		}
	}
}
