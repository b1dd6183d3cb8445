package network

import "math"

// relative is GRPO (Shao et al., 2024). With ratio = exp(logp − old) and the
// episode's advantage A, each step that counts has the loss
//
//	−min(ratio·A, clip(ratio, 1 − low, 1 + high)·A) + KL·k3
//	k3 = exp(ref − logp) − (ref − logp) − 1
//
// which is averaged over an episode's steps, then over the batch. There is no
// critic.
func (l *Loss[F]) relative() {
	count := float64(max(l.count, 1))
	for b := range l.batch {
		length := min(l.Episodes.Lengths[b], l.steps)
		advantage := float64(l.Episodes.Advantages[b])
		l.Figures.Advantage += math.Abs(advantage) / float64(l.batch)
		share := 1 / float64(l.batch*max(length, 1))
		for t := range length {
			i := t*l.batch + b
			s := l.Objective.step(float64(l.LogP[i]), float64(l.Episodes.Old[i]), float64(l.Episodes.Reference[i]), advantage)
			l.Figures.PolicyLoss += share * s.loss
			l.Figures.KL += s.kl / count
			l.Figures.ClipLow += s.low / count
			l.Figures.ClipHigh += s.high / count
			l.dLogP[i] = F(share * s.grad)
		}
	}
}

// clipped is the loss of one step, its gradient by logp, its KL, and 1 where
// the ratio was clipped from below or above.
type clipped struct{ loss, grad, kl, low, high float64 }

func (o Objective) step(logP, old, reference, advantage float64) clipped {
	ratio := math.Exp(logP - old)
	odds := math.Exp(reference - logP)
	s := clipped{kl: odds - (reference - logP) - 1}
	s.loss, s.grad = -ratio*advantage, -ratio*advantage
	switch {
	case ratio < 1-o.ClipLow && advantage < 0:
		s.loss, s.grad, s.low = -(1-o.ClipLow)*advantage, 0, 1
	case ratio > 1+o.ClipHigh && advantage > 0:
		s.loss, s.grad, s.high = -(1+o.ClipHigh)*advantage, 0, 1
	}
	s.loss += o.KL * s.kl
	s.grad += o.KL * (1 - odds)
	return s
}
