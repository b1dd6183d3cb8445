package lab

import (
	"context"
	"errors"
	"math"

	"toolgym/grpo"
	"toolgym/tools"
)

// A study is what the page measures at a task: how a group of the left column's
// completions would teach the right column's policy, and how far the two are
// apart. The left column is the policy that sampled and the reference; the right
// one is the policy that learns.
type study struct {
	Score   *grpo.GroupScore // of the group; nil where there is none
	Members []member
	Why     string // why there is no group, or why log-probabilities are not known

	Loss       *float64 // the clipped policy loss of the group, without the divergence
	Clipped    *float64 // the share of the tokens whose ratio was clipped
	Divergence *float64 // of right from left, in nats a token, over the right one's own plans
	Penalty    *float64 // β times that
	Advantage  *float64 // mean of the absolute value
	Best       float64  // the largest advantage

	Call, CallBefore *float64 // mean probability of the calls that the right column makes, under each
	Mass, MassBefore *float64 // mean probability of the six tools in its own plans
}

// A member is a completion of the group with the log-probabilities of the learning policy.
type member struct {
	take
	grpo.Score
	Ratios  []float64 // of each token; nil where they are not known
	Clipped int       // of the tokens
}

// study plays the group and measures it.
func (l *Lab) study(ctx context.Context, set Settings, s scene, before, after player, group []take) (study, error) {
	if len(group) < 2 {
		return study{Why: "A group needs at least two completions."}, nil
	}
	v := study{}
	now, err := v.compare(s, before, after, group)
	if err != nil {
		return v, err
	}
	loss := set
	loss.Beta = 0 // the divergence is measured below, where its estimator holds
	response, err := l.grade(ctx, loss, s.task, group, now)
	if err != nil {
		return v, err
	}
	v.Score = &response.Groups[0]
	v.Loss, v.Clipped = response.Metrics[grpo.MetricLoss], response.Metrics[grpo.MetricClipRegion]
	v.advantages()
	v.members(set, group, now)
	if after.net != nil {
		err = v.diverge(ctx, l, set, s, before, after)
	}
	if before.net != nil {
		v.MassBefore = massOf(group)
	}
	return v, err
}

// compare returns the learning policy's log-probabilities of the group's tokens, nil if
// that is not known.
func (v *study) compare(s scene, before, after player, group []take) ([][]float64, error) {
	switch {
	case before.net == nil:
		v.Why = before.Label + " tells no log-probabilities: ratios, divergence and loss are not known."
		return nil, nil
	case after.net == nil:
		v.Why = after.Label + " gives the group's tokens no probabilities: ratios, divergence and loss are not known."
		return nil, nil
	}
	said, err := s.judge(after.net, plansOf(group))
	if e, ok := errors.AsType[*tools.Error](err); ok {
		v.Why = "The right column's policy cannot read the left one's plans (" + e.Message + "): ratios, divergence and loss are not known."
		return nil, nil
	}
	now := make([][]float64, len(said))
	for i := range said {
		now[i] = said[i].LogProbs
	}
	return now, err
}

// grade scores takes as one group, by the code of /v1/score, with the settings'
// rubric and loss. What they were sampled with is also the reference.
func (l *Lab) grade(ctx context.Context, set Settings, task tools.Task, takes []take, now [][]float64) (grpo.Response, error) {
	rubric, loss := set.Rubric(l.config.Rubric), set.Loss()
	group := grpo.Group{ID: "lab", TaskID: task.ID}
	for i, t := range takes {
		c := t.completion
		if now != nil {
			c.LogProbs, c.OldLogProbs, c.RefLogProbs = now[i], t.said.LogProbs, t.said.LogProbs
		}
		group.Completions = append(group.Completions, c)
	}
	return l.judge(ctx, grpo.Request{Rubric: &rubric, Loss: &loss, Groups: []grpo.Group{group}})
}

// diverge measures how far the learning policy has gone from the other, over
// plans of its own: k3 estimates a divergence from the reference over samples of
// the policy itself, and is no estimate of anything over the reference's.
func (v *study) diverge(ctx context.Context, l *Lab, set Settings, s scene, before, after player) error {
	own, err := s.group(ctx, after, set.Group)
	if err != nil {
		return err
	}
	v.Mass = massOf(own)
	var other [][]float64
	if before.net != nil {
		said, err := s.judge(before.net, plansOf(own))
		if _, foreign := errors.AsType[*tools.Error](err); err != nil && !foreign {
			return err
		}
		for i := range said {
			other = append(other, said[i].LogProbs)
		}
	}
	v.Call, v.CallBefore = callProbs(s.spec, own, other)
	if other == nil {
		return nil
	}
	// The policy that learns is the one that sampled here: its ratios are 1, and
	// what is left of the loss is the divergence's share.
	group := make([]take, len(own))
	now := make([][]float64, len(own))
	for i := range own {
		now[i], group[i] = own[i].said.LogProbs, own[i]
		group[i].said.LogProbs = other[i]
	}
	response, err := l.grade(ctx, set, s.task, group, now)
	if err != nil {
		return err
	}
	if v.Divergence = response.Metrics[grpo.MetricKL]; v.Divergence != nil {
		penalty := set.Beta * *v.Divergence
		v.Penalty = &penalty
	}
	return nil
}

// advantages takes the mean size of the advantages, and the largest.
func (v *study) advantages() {
	sum := 0.0
	for i := range v.Score.Completions {
		a := v.Score.Completions[i].Advantage
		sum += math.Abs(a) / float64(len(v.Score.Completions))
		v.Best = max(v.Best, a)
	}
	v.Advantage = &sum
}

// members are the completions of the group, each token's ratio beside the limits
// of the clipping.
func (v *study) members(set Settings, group []take, now [][]float64) {
	v.Members = make([]member, len(group))
	for i := range group {
		m := &v.Members[i]
		m.take, m.Score = group[i], v.Score.Completions[i]
		if now == nil {
			continue
		}
		m.Ratios = make([]float64, len(now[i]))
		for t, logp := range now[i] {
			ratio := math.Exp(logp - group[i].said.LogProbs[t])
			m.Ratios[t] = ratio
			if m.Advantage < 0 && ratio < 1-set.Clip || m.Advantage > 0 && ratio > 1+set.Clip {
				m.Clipped++
			}
		}
	}
}

// massOf is the mean probability of all tools together, over all tokens that were
// played.
func massOf(takes []take) *float64 {
	sum, n := 0.0, 0
	for _, t := range takes {
		for _, p := range t.said.ToolMass {
			sum += p
			n++
		}
	}
	return meanOf(sum, n)
}

// callProbs are the mean probabilities of the calls that were made, under the
// policy that made them and under the other, where that is known.
func callProbs(spec tools.Spec, own []take, other [][]float64) (made, under *float64) {
	if spec.Enumerate == nil {
		return nil, nil
	}
	vocabulary := spec.Enumerate().Vocabulary()
	sum, beside, n := 0.0, 0.0, 0
	for i, t := range own {
		for j, token := range t.plan {
			if !vocabulary.IsCall(token) {
				continue
			}
			n++
			sum += math.Exp(t.said.LogProbs[j])
			if other != nil {
				beside += math.Exp(other[i][j])
			}
		}
	}
	if made = meanOf(sum, n); other != nil {
		under = meanOf(beside, n)
	}
	return made, under
}

func meanOf(sum float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	mean := sum / float64(n)
	return &mean
}
