package policy

import (
	"math"

	"toolgym/tools/arithmetic"
)

// Metrics are the numbers of one update, under the names of the telemetry.
// Pointers are nil where nothing was measured: without [Config.Compare] or grpo
// there is no starting policy to compare with, and only grpo clips ratios.
type Metrics struct {
	Update     int     `json:"update"`      // counted from 1
	Reward     float64 `json:"reward"`      // mean over the episodes of their sums
	Advantage  float64 `json:"advantage"`   // mean of the absolute value
	PolicyLoss float64 `json:"policy_loss"` // −log p · advantage: summed over an episode, mean over episodes; of grpo the clipped surrogate, β·KL included
	ValueLoss  float64 `json:"value_loss"`  // mean squared error of the critic, before its weight
	Entropy    float64 `json:"entropy"`     // mean over the steps that count, in nats: at most log 18 = 2.89
	Loss       float64 `json:"loss"`        // policy loss + value_coef · value loss − entropy_coef · entropy
	GradNorm   float64 `json:"grad_norm"`   // L2, of all weights together, before clipping

	// KL estimates the divergence of the policy from the starting one, in nats: the
	// mean over the steps that count of k3 = (r − 1) − log r, r the ratio of the
	// starting policy's probability to the policy's (Schulman, 2020).
	KL       *float64 `json:"kl"`
	ClipLow  *float64 `json:"clip_low"`  // share of the steps whose ratio was clipped from below
	ClipHigh *float64 `json:"clip_high"` // and from above

	ToolMass      float64  `json:"tool_mass"`       // mean probability on the six tools, over the steps that count
	CallProb      float64  `json:"call_prob"`       // mean probability of the tool calls that were made; 0 where none was
	StartCallProb *float64 `json:"start_call_prob"` // the same calls' under the starting policy
}

// measure turns the figures of a loss into metrics; start has the starting
// policy's log-probabilities, or is nil.
func (l *Learner) measure(b *Batch, start []float32) Metrics {
	f := l.graph.Loss.Figures
	m := Metrics{
		Update: l.updates, Reward: meanReward(b), Advantage: f.Advantage,
		PolicyLoss: f.PolicyLoss, ValueLoss: f.ValueLoss, Entropy: f.Entropy, Loss: f.Loss,
	}
	if l.net.config.Update == UpdateGRPO {
		m.ClipLow, m.ClipHigh = &f.ClipLow, &f.ClipHigh
	}
	l.toolUse(&m, start)
	return m
}

func meanReward(b *Batch) float64 {
	sum := 0.0
	for _, row := range b.Rewards {
		for _, r := range row {
			sum += r
		}
	}
	return sum / float64(len(b.Rewards))
}

// toolUse measures the tools' probability, and the distance to the starting
// policy.
func (l *Learner) toolUse(m *Metrics, start []float32) {
	loss := l.graph.Loss
	var mass, called, startCalled, kl, steps, calls float64
	for i, action := range loss.Episodes.Actions {
		if !loss.Counts(i) {
			continue
		}
		steps++
		row := loss.P[i*arithmetic.Vocabulary:]
		for _, p := range row[arithmetic.Mul : arithmetic.Rcl+1] {
			mass += float64(p)
		}
		call := action >= arithmetic.Mul && action <= arithmetic.Rcl
		if call {
			calls++
			called += math.Exp(float64(loss.LogP[i]))
		}
		if start != nil {
			d := float64(start[i] - loss.LogP[i])
			kl += math.Expm1(d) - d
			if call {
				startCalled += math.Exp(float64(start[i]))
			}
		}
	}
	m.ToolMass, m.CallProb = mass/max(steps, 1), called/max(calls, 1)
	if start != nil {
		kl, startCalled = kl/max(steps, 1), startCalled/max(calls, 1)
		m.KL, m.StartCallProb = &kl, &startCalled
	}
}
