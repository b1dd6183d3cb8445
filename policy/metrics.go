package policy

import (
	"math"
)

// Metrics are the numbers of one update, under the names of the telemetry.
// Pointers are nil where nothing was measured: without [Config.Compare] or grpo
// there is no initial policy to compare with, and only grpo clips ratios.
type Metrics struct {
	Update     int     `json:"update"`      // from 1
	Reward     float64 `json:"reward"`      // mean over the episodes of their sums
	Advantage  float64 `json:"advantage"`   // mean of the absolute value
	PolicyLoss float64 `json:"policy_loss"` // mean over episodes of Σ −log p · advantage; of grpo the clipped loss with β·KL
	ValueLoss  float64 `json:"value_loss"`  // mean squared error of the critic, before its weight
	Entropy    float64 `json:"entropy"`     // mean over the steps that count, in nats
	Loss       float64 `json:"loss"`        // policy loss + value_coef · value loss − entropy_coef · entropy
	GradNorm   float64 `json:"grad_norm"`   // L2 norm over all weights, before clipping

	// KL estimates the divergence of the policy from the initial one, in nats: the
	// mean over the steps that count of k3 = (r − 1) − log r, with r the probability
	// under the initial policy divided by that under the policy (Schulman, 2020).
	KL       *float64 `json:"kl"`
	ClipLow  *float64 `json:"clip_low"`  // share of steps whose ratio was below the clip range
	ClipHigh *float64 `json:"clip_high"` // share of steps whose ratio was above it

	ToolMass      float64  `json:"tool_mass"`       // mean probability of all tool calls together, over the steps that count
	CallProb      float64  `json:"call_prob"`       // mean probability of the tool calls that were made; 0 without any
	StartCallProb *float64 `json:"start_call_prob"` // of the same calls under the initial policy
}

// measure returns the metrics of the graph's last run.
func (l *Learner) measure(b *Batch) Metrics {
	s := l.graph.Loss.Statistics
	m := Metrics{
		Update: l.updates, Reward: meanReward(b), Advantage: s.Advantage,
		PolicyLoss: s.PolicyLoss, ValueLoss: s.ValueLoss, Entropy: s.Entropy, Loss: s.Loss,
	}
	if l.net.config.Update == UpdateGRPO {
		m.ClipLow, m.ClipHigh = &s.ClipLow, &s.ClipHigh
	}
	l.toolUse(&m)
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

// toolUse measures the probability of tool calls, and the divergence from the
// initial policy.
func (l *Learner) toolUse(m *Metrics) {
	c, loss := l.net.config, l.graph.Loss
	ref := loss.Episodes.Ref
	var mass, called, startCalled, kl, steps, calls float64
	for i, token := range loss.Episodes.Actions {
		b, t := i%c.Batch, i/c.Batch
		if !loss.Counts(b, t) {
			continue
		}
		steps++
		mass += c.toolMass(loss.P[i*c.Vocabulary.Size:])
		call := c.Vocabulary.IsCall(token)
		if call {
			calls++
			called += math.Exp(loss.LogProbs[b][t])
		}
		if ref != nil {
			d := ref[b][t] - loss.LogProbs[b][t]
			kl += math.Expm1(d) - d
			if call {
				startCalled += math.Exp(ref[b][t])
			}
		}
	}
	m.ToolMass, m.CallProb = mass/max(steps, 1), called/max(calls, 1)
	if ref != nil {
		kl, startCalled = kl/max(steps, 1), startCalled/max(calls, 1)
		m.KL, m.StartCallProb = &kl, &startCalled
	}
}
