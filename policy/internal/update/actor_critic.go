package update

import "math"

// documented is the published update. With R an episode's reward and V the sum
// of its values:
//
//	loss = −mean(Σ logp·(R − V)) + value·mean((V − R)²) − entropy·mean entropy
//
// with no gradient through the advantage R − V, and nothing masked.
func (l *Loss[F]) documented(values []F) {
	n := float64(l.batch)
	for b := range l.batch {
		var reward, value, logP float64
		for i := b; i < len(values); i += l.batch {
			reward += float64(l.Episodes.Rewards[i])
			value += float64(values[i])
			logP += float64(l.LogP[i])
		}
		advantage := reward - value
		l.Figures.PolicyLoss -= logP * advantage / n
		l.Figures.ValueLoss += advantage * advantage / n
		l.Figures.Advantage += math.Abs(advantage) / n
		for i := b; i < len(values); i += l.batch {
			l.dLogP[i] = F(-advantage / n)
			l.DValues[i] = F(-2 * l.Objective.Value * advantage / n)
		}
	}
}

// sound masks what follows the end and takes an advantage a step by
// generalised advantage estimation (Schulman et al., 2016):
//
//	δ_t = r_t + γ·V_{t+1} − V_t        A_t = δ_t + γ·λ·A_{t+1}
//
// with V = A = 0 after the end. The critic's target is A_t + V_t. The policy
// loss is the batch's mean of −Σ logp·A; value loss and entropy are means over
// the steps that count.
func (l *Loss[F]) sound(values []F) {
	o := l.Objective
	n, count := float64(l.batch), float64(max(l.count, 1))
	for b := range l.batch {
		next, advantage := 0.0, 0.0
		for t := min(l.Episodes.Lengths[b], l.steps) - 1; t >= 0; t-- {
			i := t*l.batch + b
			value := float64(values[i])
			advantage = float64(l.Episodes.Rewards[i]) + o.Discount*next - value + o.Discount*o.Lambda*advantage
			next = value
			l.Figures.PolicyLoss -= float64(l.LogP[i]) * advantage / n
			l.Figures.ValueLoss += advantage * advantage / count
			l.Figures.Advantage += math.Abs(advantage) / count
			l.dLogP[i] = F(-advantage / n)
			l.DValues[i] = F(-2 * o.Value * advantage / count)
		}
	}
}
