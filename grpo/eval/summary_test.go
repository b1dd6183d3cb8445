package eval_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/stats"
	"toolgym/grpo/parse"
)

// run makes trials from one line a task: a letter a trial, P passed, F failed,
// T failed by truncation, s, h and i excluded by their cause.
func run(name string, lines ...string) []eval.Trial {
	var trials []eval.Trial
	for i, line := range lines {
		for k, letter := range line {
			t := eval.Trial{Run: name, Model: "m", Task: fmt.Sprintf("arithmetic/0/%d", i), Trial: k,
				Turns: 2, PromptTokens: 100, OutputTokens: 10, Duration: time.Second / 2}
			t.Tier, t.Calls = parse.Strict, []grpo.Call{{Attempt: parse.Attempt{Tier: parse.Strict}}}
			if kind, ok := map[rune]string{'s': grpo.FailureServing, 'h': grpo.FailureHarness, 'i': grpo.FailureInfrastructure}[letter]; ok {
				t.Failure, t.Tier, t.Calls = &grpo.Failure{Kind: kind, Reason: "by script"}, "", nil
				trials = append(trials, t)
				continue
			}
			t.Success = letter == 'P'
			if letter == 'T' {
				t.FinishReason, t.Tier, t.Defects = "length", parse.None, []parse.Defect{"truncated"}
			}
			reward, completion := 2.45, 0.0
			if t.Success {
				reward, completion = 5.45, 1
			}
			t.Reward, t.Criteria = &reward, grpo.CriteriaOf(grpo.CriterionScore{Name: grpo.CriterionCompletion, Value: completion}, grpo.CriterionScore{Name: "own", Error: "no value"})
			trials = append(trials, t)
		}
	}
	return trials
}

func summarize(trials []eval.Trial) eval.Summary { return eval.Summarize(trials, rand.NewPCG(1, 2)) }

func TestSummarize(t *testing.T) {
	lines := []string{"PPPP", "FFFF", "PFPT", "PPPi", "FFPP", "PPPP"}
	got := summarize(run("r", lines...))
	rate, reward := 15.0/23, (15*5.45+8*2.45)/23
	want := eval.Summary{
		Run: "r", Model: "m", Tasks: 6, Trials: 24, Scored: 23, Passed: 15, ModelFailed: 8, InfrastructureExcluded: 1, Truncated: 1,
		Coverage: 23.0 / 24, Success: &rate, WorstCase: 15.0 / 24,
		// pass@k and pass^k by counting: three tasks always pass, one never, two pass in 2 of 4.
		PassAt:  []float64{(3 + 0.5 + 0.5) / 6, (3 + 5.0/6 + 5.0/6) / 6, 5.0 / 6},
		PassAll: []float64{(3 + 0.5 + 0.5) / 6, (3 + 1.0/6 + 1.0/6) / 6, 3.0 / 6},
		Never:   []string{"arithmetic/0/1"},
		Always:  []string{"arithmetic/0/0", "arithmetic/0/3", "arithmetic/0/5"},
		Flaky:   []string{"arithmetic/0/2", "arithmetic/0/4"},
		Reward:  &reward, Criteria: map[string]float64{"completion": rate},
		Tiers: map[string]int{"strict": 22, "none": 1}, Defects: map[string]int{"truncated": 1},
		Turns: 2, Calls: 1, OutputLength: 10, PromptTokens: 2400, OutputTokens: 240, Seconds: 12, TokensPerSecond: 20,
	}
	intervals := cmpopts.IgnoreFields(eval.Summary{}, "Interval", "WorstCaseInterval")
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12), intervals); diff != "" {
		t.Error(diff)
	}
	if got.Interval == nil || got.Interval[0] >= rate || got.Interval[1] <= rate {
		t.Errorf("interval %v around %v", got.Interval, rate)
	}
}

func TestSummaryWithholdsTheHeadline(t *testing.T) {
	tests := []struct {
		name     string
		lines    []string
		headline bool
		withheld string
	}{
		{"19 of 20 scored is enough", []string{"PPPPP", "PPPPP", "PPPPP", "PPPPs"}, true, ""},
		{"18 of 20 scored is not", []string{"PPPPP", "PPPPP", "PPPPh", "PPPPs"}, false, "only 18 of 20 trials could be scored (90 %), at least 95 % are needed"},
		{"nothing scored", []string{"i", "i"}, false, "only 0 of 2"},
		{"no trials", nil, false, "there are no trials"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := summarize(run("r", test.lines...))
			if (got.Success != nil) != test.headline || (got.Interval != nil) != test.headline {
				t.Errorf("success %v, interval %v", got.Success, got.Interval)
			}
			if !strings.HasPrefix(got.Withheld, test.withheld) || (got.Withheld == "") != test.headline {
				t.Errorf("reason %q", got.Withheld)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"success":null`) == test.headline {
				t.Errorf("as JSON: %s", text)
			}
		})
	}
}

func TestSummaryUsesWilsonForOneTrialATask(t *testing.T) {
	got := summarize(run("r", "P", "F", "P", "P"))
	if want := stats.Wilson(3, 4); *got.Interval != want {
		t.Errorf("got %v, want %v", *got.Interval, want)
	}
}

// Whatever happens to the trials, each is in one denominator, the worst case
// is not above the headline, and is the headline where nothing is excluded, and
// no interval has width zero.
func TestSummaryAccounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("PPPPPFFTshi")), 1, 4, -1), 1, 10).Draw(t, "tasks")
		s := summarize(run("r", lines...))
		if s.Passed+s.ModelFailed != s.Scored || s.Scored+s.ServingLost+s.InfrastructureExcluded+s.HarnessExcluded != s.Trials || s.Truncated > s.ModelFailed {
			t.Fatalf("%+v", s)
		}
		if s.WorstCaseInterval[0] >= s.WorstCaseInterval[1] || s.Success != nil && (*s.Success < s.WorstCase || s.Interval[0] >= s.Interval[1]) {
			t.Fatalf("%+v", s)
		}
		if s.Scored == s.Trials && *s.Interval != s.WorstCaseInterval {
			t.Fatalf("nothing is excluded, and the intervals are %v and %v", *s.Interval, s.WorstCaseInterval)
		}
		for k := range s.PassAt {
			if s.PassAt[k] < s.PassAll[k]-1e-12 {
				t.Fatalf("pass@%d = %v under pass^%d = %v", k+1, s.PassAt[k], k+1, s.PassAll[k])
			}
		}
	})
}
