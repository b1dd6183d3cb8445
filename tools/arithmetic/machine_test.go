package arithmetic_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const (
	ctx, mul, add, sub = arithmetic.Ctx, arithmetic.Mul, arithmetic.Add, arithmetic.Sub
	ans, sto, rcl, eos = arithmetic.Ans, arithmetic.Sto, arithmetic.Rcl, arithmetic.Eos
)

func play(m *arithmetic.SoundMachine, plan ...int) (total float64, done bool) {
	for _, token := range plan {
		var gain float64
		gain, done = m.Step(token)
		total += gain
	}
	return total, done
}

// TestSoundMachine uses the operands of 4*2+7 = 15, then 15-3 and 15-(3*5).
func TestSoundMachine(t *testing.T) {
	tests := []struct {
		name           string
		stage          int
		plan           []int
		reward         float64
		steps, invalid int
		done, success  bool
	}{
		{"plan of stage 0", 0, []int{mul, add, ans}, 1.5, 3, 0, true, true},
		{"plan of stage 1", 1, []int{mul, add, sub, ans}, 1.5, 4, 0, true, true},
		{"plan of stage 2", 2, []int{mul, add, sto, mul, rcl, sub, ans}, 1.5, 7, 0, true, true},
		{"half of the milestones of stage 0", 0, []int{mul, ans}, 0.25, 2, 0, true, false},
		{"the target without an answer is not a milestone", 0, []int{mul, add, eos}, 0.25, 3, 0, true, false},
		{"two of three milestones", 1, []int{mul, add, ans}, 1.0 / 3, 3, 0, true, false},
		{"five of six milestones", 2, []int{mul, add, sto, mul, rcl, sub, eos}, 5.0 / 12, 7, 0, true, false},
		{"milestones count in order", 2, []int{add, sto, ans}, 0, 3, 0, true, false},
		{"answer with empty acc", 0, []int{ans}, 0, 1, 0, true, false},
		{"digits and [CTX] are invalid", 0, []int{7, ctx, 0}, 0, 3, 3, false, false},
		{"store with empty acc", 2, []int{sto}, 0, 1, 1, false, false},
		{"recall with empty mem", 2, []int{rcl, mul, rcl}, 0.5 / 6, 3, 2, false, false},
		{"empty tape", 0, []int{mul, add, add, mul}, 0.25, 4, 2, false, false},
		{"one operand on the tape is not enough", 0, []int{mul, sto, add}, 0.25, 3, 1, false, false},
		{"left without acc cannot be combined", 2, []int{mul, sto, mul, rcl, sto, add}, 0.5 / 6, 6, 1, false, false},
		{"step limit", 2, []int{1, 1, 1, 1, 1, 1, 1, 1}, 0, 8, 8, true, false},
		{"tokens after the end have no effect", 0, []int{mul, ans, mul, add, ans}, 0.25, 2, 0, true, false},
		{"an answer at the step limit", 0, []int{1, 1, 1, 1, 1, mul, add, ans}, 1.5, 8, 5, true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := arithmetic.NewSound(arithmetic.Published(test.stage, [5]int{4, 2, 7, 3, 5}))
			total, done := play(&m, test.plan...)
			if math.Abs(total-test.reward) > 1e-12 || math.Abs(m.Reward()-test.reward) > 1e-12 {
				t.Errorf("sum of gains %v, reward %v; want %v", total, m.Reward(), test.reward)
			}
			got := fmt.Sprint(m.Steps(), m.Invalid(), done, m.Success())
			if want := fmt.Sprint(test.steps, test.invalid, test.done, test.success); got != want {
				t.Errorf("steps, invalid, done, success: %s, want %s", got, want)
			}
		})
	}
}

// TestOneMilestonePerAction has c = 0, so that the first product is the value of
// both the first and the second milestone.
func TestOneMilestonePerAction(t *testing.T) {
	m := arithmetic.NewSound(arithmetic.Published(2, [5]int{4, 2, 0, 3, 5}))
	if total, _ := play(&m, mul); math.Abs(total-0.5/6) > 1e-12 {
		t.Errorf("reward %v after one action, want that of one milestone", total)
	}
}

func TestSoundProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := arithmetic.Draw(arithmetic.Seeded(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(0, 4).Draw(t, "stage"))
		plan := rapid.SliceOfN(rapid.IntRange(0, arithmetic.Vocabulary-1), 0, 12).Draw(t, "plan")
		m := arithmetic.NewSound(p)
		total, _ := play(&m, plan...)
		if math.Abs(total-m.Reward()) > 1e-12 {
			t.Errorf("gains add up to %v, the reward is %v", total, m.Reward())
		}
		if m.Success() != (m.Reward() == 1.5) || !m.Success() && m.Reward() >= 0.5 {
			t.Errorf("success %v with reward %v", m.Success(), m.Reward())
		}
		planned := arithmetic.NewSound(p)
		if total, _ := play(&planned, p.Plan(nil)...); math.Abs(total-1.5) > 1e-12 || !planned.Success() {
			t.Errorf("the plan of %s gets %v", p.Expression(), total)
		}
	})
}

func TestExpressionAndContext(t *testing.T) {
	p := arithmetic.Published(0, [5]int{4, 2, 7, 3, 5})
	drawn := p
	drawn.Operators = [4]int{add, mul, sub, add}
	tests := []struct {
		stage      int
		p          arithmetic.Problem
		expression string
		context    []int
		target     int
	}{
		{0, p, "4*2+7", []int{4, 2, 7}, 15},
		{1, arithmetic.Published(1, p.Operands), "(4*2+7)-3", []int{4, 2, 7, 3}, 12},
		{2, arithmetic.Published(2, p.Operands), "(4*2+7)-(3*5)", []int{4, 2, 7, 3, 5}, 0},
		{3, drawn, "(4+2)*7", []int{4, add, 2, mul, 7}, 42},
		{4, drawn, "((4+2)*7)-(3+5)", []int{4, add, 2, mul, 7, sub, 3, add, 5}, 34},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("stage %d", test.stage), func(t *testing.T) {
			test.p.Stage = test.stage
			if got := test.p.Expression(); got != test.expression {
				t.Errorf("expression %s, want %s", got, test.expression)
			}
			if diff := cmp.Diff(test.context, test.p.Context(nil)); diff != "" {
				t.Error(diff)
			}
			if got := test.p.Target(); got != test.target {
				t.Errorf("target %d, want %d", got, test.target)
			}
		})
	}
}

// TestDraw fixes the draws: they must be the same on every machine and in every
// release, because task ids refer to them.
func TestDraw(t *testing.T) {
	tests := []struct {
		stage int
		seed  uint64
		want  arithmetic.Problem
	}{
		{0, 0, arithmetic.Problem{Stage: 0, Operands: [5]int{4, 6, 0, 8, 2}, Operators: [4]int{mul, add}}},
		{2, 0, arithmetic.Problem{Stage: 2, Operands: [5]int{4, 6, 0, 8, 2}, Operators: [4]int{mul, add, sub, mul}}},
		{1, 17, arithmetic.Problem{Stage: 1, Operands: [5]int{9, 3, 7, 8, 1}, Operators: [4]int{mul, add, sub}}},
		{3, 17, arithmetic.Problem{Stage: 3, Operands: [5]int{9, 3, 7, 8, 1}, Operators: [4]int{sub, add}}},
		{4, 17, arithmetic.Problem{Stage: 4, Operands: [5]int{9, 3, 7, 8, 1}, Operators: [4]int{sub, add, mul, add}}},
		{4, math.MaxUint64, arithmetic.Problem{Stage: 4, Operands: [5]int{7, 9, 6, 8, 4}, Operators: [4]int{mul, mul, add, mul}}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("stage %d seed %d", test.stage, test.seed), func(t *testing.T) {
			got := arithmetic.Draw(arithmetic.Seeded(test.seed), test.stage)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDocumentedGolden plays all episodes of the published rules in testdata.
func TestDocumentedGolden(t *testing.T) {
	f, err := os.Open("testdata/toolenv_documented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct {
			Stage    int
			Operands [5]int
			Actions  []int
			Reward   float64
			Steps    int
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		m := arithmetic.NewDocumented(arithmetic.Published(row.Stage, row.Operands))
		var total float64
		for _, token := range row.Actions {
			reward, _ := m.Step(token)
			total += reward
		}
		if total != row.Reward || m.Steps() != row.Steps {
			t.Errorf("row %d: reward %v in %d steps; want %s", rows+1, total, m.Steps(), lines.Text())
		}
	}
	if rows != 1965 {
		t.Errorf("%d rows, want 1965", rows)
	}
}

// TestStepsDoNotAllocate covers the machines and everything that the policy calls
// per sample.
func TestStepsDoNotAllocate(t *testing.T) {
	e := arithmetic.NewEnumerator()
	buf := make([]int, 0, arithmetic.Vocabulary)
	for _, rules := range []string{tools.Sound, tools.Documented} {
		t.Run(rules, func(t *testing.T) {
			seed := uint64(0)
			allocations := testing.AllocsPerRun(1000, func() {
				seed++
				if err := e.Start(rules, "2", seed); err != nil {
					t.Fatal(err)
				}
				buf = e.Context(buf[:0])
				e.HasShortcut()
				for token := range arithmetic.Vocabulary {
					e.Act(token)
				}
			})
			if allocations != 0 {
				t.Errorf("%v allocations per episode", allocations)
			}
		})
	}
}
