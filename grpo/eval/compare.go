package eval

import (
	"fmt"
	"math"
	"math/rand/v2"

	"toolgym/grpo/eval/stats"
	"toolgym/internal/refusal"
)

// alpha is the probability of a false claim that a comparison accepts.
const alpha = 0.05

// A Comparison says whether the second of two runs passes more often than the
// first, on the tasks that both have scored.
type Comparison struct {
	Runs        [2]string  `json:"runs"`
	Tasks       int        `json:"tasks"`      // shared ones
	Rates       [2]float64 `json:"rates"`      // means over the shared tasks
	Difference  float64    `json:"difference"` // the second minus the first
	Interval    [2]float64 `json:"interval"`   // of Difference, 95 %
	Test        string     `json:"test"`       // mcnemar or sign_flip
	P           float64    `json:"p"`
	Significant bool       `json:"significant"` // p under 0.05, and both runs have coverage for a headline
	Better      *string    `json:"better"`      // the run's name; null unless Significant
	Sentence    string     `json:"sentence"`

	uncovered string // a run of which too little was scored
}

// Compare pairs two runs task by task. Each shared task gives one difference,
// of the shares of its scored trials that passed. Runs that share no scored task
// are refused.
func Compare(first, second []Trial, source rand.Source) (Comparison, error) {
	one, two := tallies(first), tallies(second)
	pairs := pair(one, two)
	if len(pairs) == 0 {
		return Comparison{}, refusal.New("", "two runs over the same tasks", "the two runs have no scored task in common")
	}
	c := Comparison{Runs: [2]string{first[0].Run, second[0].Run}, Tasks: len(pairs)}
	differences := make([]float64, len(pairs))
	for i, p := range pairs {
		a, b := p[0].Rate(), p[1].Rate()
		c.Rates[0] += a
		c.Rates[1] += b
		differences[i] = b - a
		c.Difference += b - a
	}
	n := float64(len(pairs))
	c.Rates[0], c.Rates[1], c.Difference = c.Rates[0]/n, c.Rates[1]/n, c.Difference/n
	c.Interval = stats.BootstrapMean(differences, source)
	c.test(pairs, differences, single(one) && single(two), source)
	switch {
	case uncovered(two):
		c.uncovered = c.Runs[1]
	case uncovered(one):
		c.uncovered = c.Runs[0]
	}
	c.judge()
	return c, nil
}

// Adjust puts in a p-value that allows for other comparisons which are looked
// at together with this one, and says again what the figures mean.
func (c *Comparison) Adjust(p float64) {
	c.P = p
	c.judge()
}

// pair lists the counts of the tasks that both runs have scored.
func pair(one, two []tally) [][2]stats.Count {
	other := make(map[string]stats.Count, len(two))
	for _, t := range two {
		other[t.task] = t.Count
	}
	var pairs [][2]stats.Count
	for _, t := range one {
		if o := other[t.task]; t.Scored > 0 && o.Scored > 0 {
			pairs = append(pairs, [2]stats.Count{t.Count, o})
		}
	}
	return pairs
}

// test picks the test by the number of trials a task, and fills in P.
func (c *Comparison) test(pairs [][2]stats.Count, differences []float64, single bool, source rand.Source) {
	if !single {
		c.Test, c.P = "sign_flip", stats.SignFlip(differences, source)
		return
	}
	lost, won := 0, 0
	for _, p := range pairs {
		switch p[1].Passed - p[0].Passed {
		case -1:
			lost++
		case 1:
			won++
		}
	}
	c.Test, c.P = "mcnemar", stats.McNemar(lost, won)
}

// uncovered reports whether too few trials were scored for a headline.
func uncovered(list []tally) bool {
	trials, scored := 0, 0
	for _, t := range list {
		trials += t.trials
		scored += t.Scored
	}
	return 100*scored < leastCoverage*trials
}

// judge says in words what the figures mean.
func (c *Comparison) judge() {
	c.Significant, c.Better = false, nil
	better, worse := 1, 0
	if c.Difference < 0 {
		better, worse = 0, 1
	}
	figures := fmt.Sprintf("%s passes %.1f %% and %s %.1f %% of %d shared tasks (difference %+.1f points, 95 %% interval %+.1f to %+.1f, p %s)",
		c.Runs[better], 100*c.Rates[better], c.Runs[worse], 100*c.Rates[worse], c.Tasks,
		100*c.Difference, 100*c.Interval[0], 100*c.Interval[1], pValue(c.P))
	switch {
	case c.uncovered != "":
		c.Sentence = fmt.Sprintf("No verdict: under %d %% of the trials of %s could be scored. %s.", leastCoverage, c.uncovered, figures)
	case c.P < alpha:
		c.Significant, c.Better = true, &c.Runs[better]
		c.Sentence = fmt.Sprintf("%s is better: %s.", c.Runs[better], figures)
	case c.Difference == 0:
		c.Sentence = fmt.Sprintf("No difference was seen: %s.", figures)
	default:
		c.Sentence = fmt.Sprintf("The difference may be chance: %s.", figures)
	}
}

// pValue writes a probability to four places, and never as zero.
func pValue(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %g", math.Round(p*10000)/10000)
}
