package grpo

import (
	"fmt"
	"math"
	"slices"

	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
)

// Metrics are the figures of a batch, under the names that trainers print. A
// figure that cannot be known is nil: nothing is guessed.
//
//	reward                      mean of the valid rewards
//	reward_std                  mean of the groups' standard deviations
//	frac_reward_zero_std        share of the groups without spread, of those with two valid members
//	rewards/{criterion}/mean    mean of the criterion's value over the valid completions
//	rewards/{criterion}/std     its sample standard deviation
//	completions/mean_length     in tokens, where they are known of every completion
//	completions/clipped_ratio   share of the completions that were cut off
//	completions/unrecognised_ratio  share of those with an attempt in no known form, which
//	                            may be a blind spot of the reader
//	tools/call_frequency        calls for each completion
//	tools/failure_frequency     share of the calls that failed
//	kl                          mean divergence from the reference policy, by the loss's estimator
//	clip_ratio/low_mean, clip_ratio/high_mean, clip_ratio/region_mean
//	loss                        the policy loss
//	failures/{kind}             completions without a reward, by who is to blame
type Metrics map[string]*float64

// The names of the metrics that do not depend on a rubric.
const (
	MetricReward           = "reward"
	MetricRewardStd        = "reward_std"
	MetricZeroStd          = "frac_reward_zero_std"
	MetricMeanLength       = "completions/mean_length"
	MetricClippedRatio     = "completions/clipped_ratio"
	MetricUnrecognised     = "completions/unrecognised_ratio"
	MetricCallFrequency    = "tools/call_frequency"
	MetricFailureFrequency = "tools/failure_frequency"
	MetricKL               = "kl"
	MetricClipLow          = "clip_ratio/low_mean"
	MetricClipHigh         = "clip_ratio/high_mean"
	MetricClipRegion       = "clip_ratio/region_mean"
	MetricLoss             = "loss"
)

// moments are the running mean and spread of a stream of numbers (Welford
// 1962).
type moments struct {
	n       int
	mean, m float64
}

func (m *moments) add(x float64) {
	m.n++
	if d := x - m.mean; d != 0 {
		m.mean += d / float64(m.n)
		m.m += d * (x - m.mean)
	}
}

func (m *moments) meanOrNil() *float64 { return ratio(m.mean, m.n > 0) }

func (m *moments) stdOrNil() *float64 {
	return ratio(math.Sqrt(max(0, m.m)/float64(m.n-1)), m.n > 1)
}

func ratio(x float64, known bool) *float64 {
	if !known {
		return nil
	}
	return &x
}

// A tally gathers the metrics of groups that come one after another, in memory
// that does not grow with them.
type tally struct {
	tariff   *tariff
	reward   moments
	stds     moments
	zero     moments
	criteria []moments
	lengths  moments
	uncounted,
	cut, unrecognised, completions, calls, failed int
	failures map[string]int
	loss     *objective.Meter
	estimate string
	noTokens bool // some valid completion came without log-probabilities
	tokens   bool // some came with
}

func newTally(p *plan) (*tally, error) {
	meter, err := objective.NewMeter(p.loss)
	if err != nil {
		return nil, refusal.Below("/loss/", err)
	}
	return &tally{
		tariff: p.tariff, criteria: make([]moments, len(p.tariff.clauses)),
		failures: map[string]int{}, loss: meter, estimate: p.loss.KL,
	}, nil
}

// addScores takes in, of groups that are scored, what does not depend on
// advantages.
func (t *tally) addScores(groups []Group, scored []GroupScore) {
	for i := range scored {
		for j := range scored[i].Completions {
			s := &scored[i].Completions[j]
			t.addScore(s)
			t.noteTokens(&groups[i].Completions[j], s)
		}
	}
}

// addAdvantages takes in the rest. It looks at completions again only where some
// have log-probabilities. The error is the caller's: log-probabilities that make
// no batch.
func (t *tally) addAdvantages(groups []Group, scored []GroupScore) error {
	for i := range scored {
		t.addSpread(scored[i].Spread)
		if !t.tokens {
			continue
		}
		for j := range scored[i].Completions {
			if err := t.addTokens(&groups[i].Completions[j], &scored[i].Completions[j]); err != nil {
				return refusal.Below(fmt.Sprintf("/groups/%d/completions/%d/", i, j), err)
			}
		}
	}
	return nil
}

func (t *tally) addSpread(s objective.Spread) {
	if s.Std != nil {
		t.stds.add(*s.Std)
		t.zero.add(flag(s.ZeroStd))
	}
}

func (t *tally) addScore(s *Score) {
	if s.Failure != nil {
		t.failures[s.Failure.Kind]++
	}
	if !s.Valid {
		return
	}
	t.completions++
	t.reward.add(*s.Reward)
	for k, value := range s.Criteria.values {
		if s.Criteria.errorAt(k) == "" {
			t.criteria[k].add(value)
		}
	}
	if s.tokens >= 0 {
		t.lengths.add(float64(s.tokens))
	} else {
		t.uncounted++
	}
	t.cut += int(s.Criteria.values[mOverlong])
	t.unrecognised += int(flag(slices.Contains(s.Defects, parse.DefectNotRecognised)))
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Counts() {
			t.calls++
			t.failed += int(flag(!c.carriedOut()))
		}
	}
}

func flag(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// noteTokens notes whether a valid completion has log-probabilities.
func (t *tally) noteTokens(c *Completion, s *Score) {
	if s.Valid {
		t.tokens, t.noTokens = t.tokens || c.LogProbs != nil, t.noTokens || c.LogProbs == nil
	}
}

// addTokens takes in the log-probabilities of a valid completion, if it has
// some.
func (t *tally) addTokens(c *Completion, s *Score) error {
	if !s.Valid || c.LogProbs == nil {
		return nil
	}
	batch := objective.Tokens{LogProbs: [][]float64{c.LogProbs}, Advantages: []float64{s.Advantage}}
	if c.OldLogProbs != nil {
		batch.Old = [][]float64{c.OldLogProbs}
	}
	if c.RefLogProbs != nil {
		batch.Ref = [][]float64{c.RefLogProbs}
	}
	if c.Mask != nil {
		batch.Mask = [][]int{c.Mask}
	}
	return t.loss.Add(batch)
}

// metrics are the figures so far.
func (t *tally) metrics() (Metrics, error) {
	m := Metrics{
		MetricReward:           t.reward.meanOrNil(),
		MetricRewardStd:        t.stds.meanOrNil(),
		MetricZeroStd:          t.zero.meanOrNil(),
		MetricMeanLength:       ratio(t.lengths.mean, t.lengths.n > 0 && t.uncounted == 0),
		MetricClippedRatio:     share(t.cut, t.completions),
		MetricUnrecognised:     share(t.unrecognised, t.completions),
		MetricCallFrequency:    share(t.calls, t.completions),
		MetricFailureFrequency: share(t.failed, t.calls),
	}
	for k := range t.tariff.clauses {
		m["rewards/"+t.tariff.clauses[k].name+"/mean"] = t.criteria[k].meanOrNil()
		m["rewards/"+t.tariff.clauses[k].name+"/std"] = t.criteria[k].stdOrNil()
	}
	for _, kind := range []string{FailureServing, FailureHarness, FailureInfrastructure} {
		m["failures/"+kind] = share(t.failures[kind], 1)
	}
	return m, t.addLoss(m)
}

func share(part, whole int) *float64 {
	return ratio(float64(part)/float64(whole), whole > 0)
}

func (t *tally) addLoss(m Metrics) error {
	for _, name := range []string{MetricKL, MetricClipLow, MetricClipHigh, MetricClipRegion, MetricLoss} {
		m[name] = nil
	}
	if !t.tokens || t.noTokens {
		return nil
	}
	loss, err := t.loss.Loss()
	if err != nil {
		return err
	}
	m[MetricLoss] = loss.Value
	if loss.KL != nil {
		m[MetricKL] = map[string]*float64{objective.KL1: &loss.KL.K1, objective.KL2: &loss.KL.K2, objective.KL3: &loss.KL.K3}[t.estimate]
	}
	if c := loss.Clip; c != nil {
		m[MetricClipLow], m[MetricClipHigh], m[MetricClipRegion] = &c.Low, &c.High, &c.Region
	}
	return nil
}
