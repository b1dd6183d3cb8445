package eval

import (
	"fmt"
	"math/rand/v2"

	"toolgym/grpo"
	"toolgym/grpo/eval/stats"
)

// leastCoverage is the share of trials, in percent, that must have been scored
// for a headline to be given.
const leastCoverage = 95

// A Summary is what a list of trials amounts to. Each trial is in exactly one
// of Passed, ModelFailed, ServingLost, InfrastructureExcluded and
// HarnessExcluded; Scored is the sum of the first two.
type Summary struct {
	Run   string `json:"run"`
	Model string `json:"model"`

	Tasks                  int `json:"tasks"`
	Trials                 int `json:"trials"`
	Scored                 int `json:"scored"`
	Passed                 int `json:"passed"`
	ModelFailed            int `json:"model_failed"`
	ServingLost            int `json:"serving_lost"`
	InfrastructureExcluded int `json:"infrastructure_excluded"`
	HarnessExcluded        int `json:"harness_excluded"`
	Truncated              int `json:"truncated"` // scored trials that a token limit cut off

	Coverage float64     `json:"coverage"` // scored / trials
	Success  *float64    `json:"success"`  // passed / scored; null under 95 % coverage
	Interval *[2]float64 `json:"interval"` // of Success, 95 %
	Withheld string      `json:"withheld,omitempty"`

	WorstCase         float64    `json:"worst_case"` // passed / trials: excluded counts as failed
	WorstCaseInterval [2]float64 `json:"worst_case_interval"`

	PassAt  []float64 `json:"pass_at"`  // pass@k for k = 1, 2, …, averaged over tasks
	PassAll []float64 `json:"pass_all"` // pass^k likewise
	Never   []string  `json:"never_passed"`
	Always  []string  `json:"always_passed"`
	Flaky   []string  `json:"flaky"` // tasks that passed in some scored trials

	Reward   *float64           `json:"reward"`   // mean over scored trials
	Criteria map[string]float64 `json:"criteria"` // means over scored trials
	Tiers    map[string]int     `json:"tiers"`    // scored trials by tier
	Defects  map[string]int     `json:"defects"`  // scored trials that have the defect

	Turns           float64 `json:"mean_turns"` // over scored trials, as the two below
	Calls           float64 `json:"mean_calls"`
	OutputLength    float64 `json:"mean_output_tokens"`
	PromptTokens    int     `json:"prompt_tokens"` // sums over all trials
	OutputTokens    int     `json:"output_tokens"`
	Seconds         float64 `json:"seconds"` // time spent waiting for the model
	TokensPerSecond float64 `json:"tokens_per_second"`
}

// Summarize derives the figures from trials of one run. The source feeds the
// bootstrap.
func Summarize(trials []Trial, source rand.Source) Summary {
	list := tallies(trials)
	s := Summary{Tasks: len(list), Trials: len(trials), Never: []string{}, Always: []string{}, Flaky: []string{},
		Criteria: map[string]float64{}, Tiers: map[string]int{}, Defects: map[string]int{}}
	if len(trials) > 0 {
		s.Run, s.Model = trials[0].Run, trials[0].Model
	}
	for _, t := range trials {
		s.count(t)
	}
	s.sort(list)
	s.headline(list, source)
	s.PassAt, s.PassAll = stats.Curves(counts(list, false))
	s.means(trials)
	return s
}

// count puts one trial into its denominators.
func (s *Summary) count(t Trial) {
	s.PromptTokens += t.PromptTokens
	s.OutputTokens += t.OutputTokens
	s.Seconds += t.Duration.Seconds()
	switch {
	case t.scored():
		s.countScored(t)
	case t.Failure.Kind == grpo.FailureServing:
		s.ServingLost++
	case t.Failure.Kind == grpo.FailureHarness:
		s.HarnessExcluded++
	default:
		s.InfrastructureExcluded++
	}
}

func (s *Summary) countScored(t Trial) {
	s.Scored++
	s.Tiers[string(t.Tier)]++
	for _, d := range t.Defects {
		s.Defects[string(d)]++
	}
	if t.FinishReason == "length" {
		s.Truncated++
	}
	if t.Success {
		s.Passed++
	} else {
		s.ModelFailed++
	}
}

// sort files the tasks under never, always and sometimes passed.
func (s *Summary) sort(list []tally) {
	for _, t := range list {
		switch {
		case t.Scored == 0:
		case t.Passed == 0:
			s.Never = append(s.Never, t.task)
		case t.Passed == t.Scored:
			s.Always = append(s.Always, t.task)
		default:
			s.Flaky = append(s.Flaky, t.task)
		}
	}
}

// headline works out the success rate and the worst case, each with its
// interval, and withholds the first where too little was scored.
func (s *Summary) headline(list []tally, source rand.Source) {
	one, two := source.Uint64(), source.Uint64()
	draws := func() rand.Source { return rand.NewPCG(one, two) } // the same for both, so that they differ only by what is excluded
	s.WorstCaseInterval = interval(counts(list, true), single(list), draws())
	if s.Trials == 0 {
		s.Withheld = "there are no trials"
		return
	}
	s.Coverage = float64(s.Scored) / float64(s.Trials)
	s.WorstCase = float64(s.Passed) / float64(s.Trials)
	if 100*s.Scored < leastCoverage*s.Trials {
		s.Withheld = fmt.Sprintf("only %d of %d trials could be scored (%.0f %%), at least %d %% are needed", s.Scored, s.Trials, 100*s.Coverage, leastCoverage)
		return
	}
	rate, between := float64(s.Passed)/float64(s.Scored), interval(counts(list, false), single(list), draws())
	s.Success, s.Interval = &rate, &between
}

// interval is Wilson's with one trial a task, and the bootstrap's with several.
func interval(tasks []stats.Count, single bool, source rand.Source) [2]float64 {
	if !single {
		return stats.Bootstrap(tasks, source)
	}
	sum := stats.Sum(tasks)
	return stats.Wilson(sum.Passed, sum.Scored)
}

// means averages what the scored trials have, each criterion over the trials
// that have it.
func (s *Summary) means(trials []Trial) {
	reward, sums, have := 0.0, map[string]float64{}, map[string]float64{}
	for _, t := range trials {
		if !t.scored() {
			continue
		}
		s.Turns += float64(t.Turns) / float64(s.Scored)
		s.Calls += float64(calls(t)) / float64(s.Scored)
		s.OutputLength += float64(t.OutputTokens) / float64(s.Scored)
		if t.Reward != nil {
			reward += *t.Reward
			have["reward"]++
		}
		for c := range t.Criteria.All() {
			if c.Error == "" {
				sums[c.Name] += c.Value
				have["criteria/"+c.Name]++
			}
		}
	}
	for name, sum := range sums {
		s.Criteria[name] = sum / have["criteria/"+name]
	}
	if n := have["reward"]; n > 0 {
		reward /= n
		s.Reward = &reward
	}
	if s.Seconds > 0 {
		s.TokensPerSecond = float64(s.OutputTokens) / s.Seconds
	}
}

// calls counts the attempts that are calls.
func calls(t Trial) int {
	n := 0
	for i := range t.Calls {
		if t.Calls[i].Counts() {
			n++
		}
	}
	return n
}
