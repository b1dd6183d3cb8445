package objective

import "math"

// A Loss is the policy loss of a batch and the figures that trainers log with
// it. What cannot be known is nil: KL without reference log-probabilities,
// Clip without old ones, and Value with its gradient where the objective's β
// asks for a divergence that is not there.
type Loss struct {
	Value *float64
	// Gradient is the derivative of Value by each log-probability.
	Gradient [][]float64
	KL       *Divergence
	Clip     *Clipping
}

// A Divergence from the reference policy, estimated in three ways, each the
// mean over the tokens that the mask keeps (Schulman, "Approximating KL
// divergence", 2020), with d = logp − ref:
//
//	k1 = d,  k2 = d²/2,  k3 = exp(−d) + d − 1
type Divergence struct{ K1, K2, K3 float64 }

// Clipping tells which share of the ratios was clipped: below 1−ε where the
// advantage is negative, above 1+ε_high where it is positive, and either. It
// is a share of tokens at token level, of completions at sequence level.
type Clipping struct{ Low, High, Region float64 }

// Compute returns the loss of a batch. With the ratio ρ of the policy to
// the one that sampled,
//
//	ρ_it = exp(logp_it − old_it)                              token
//	ρ_i  = exp(Σ_t m_it (logp_it − old_it) / Σ_t m_it)        sequence
//	l_it = −min(ρ A_i, clip(ρ, 1−ε, 1+ε_high) A_i) + β KL_it
//
// the loss is a weighted sum over the tokens that the mask m keeps, n_i of
// completion i and N of the batch of B completions:
//
//	grpo    Σ l_it / (B n_i)      DeepSeekMath, arXiv:2402.03300
//	bnpo    Σ l_it / N            arXiv:2506.02864, N of the local batch
//	dr_grpo Σ l_it / (B L)        arXiv:2503.20783, L the longest completion allowed
//	dapo    Σ l_it / N            arXiv:2503.14476, N of the whole batch
//
// The batch handed in is both the local and the whole one, so that bnpo and
// dapo agree here; they differ once a trainer splits it.
func Compute(t Tokens, c Config) (Loss, error) {
	m, err := NewMeter(c)
	if err != nil {
		return Loss{}, err
	}
	if err := m.Add(t); err != nil {
		return Loss{}, err
	}
	loss, err := m.Loss()
	if err == nil && loss.Value != nil {
		loss.Gradient = t.gradient(c)
	}
	return loss, err
}

// gradient is the derivative of the loss by each log-probability.
func (t Tokens) gradient(c Config) [][]float64 {
	ratios, weights := t.ratios(c.Level), t.weights(c)
	gradient := make([][]float64, len(t.LogProbs))
	for i := range gradient {
		_, gradient[i] = t.row(i, ratios[i], c)
		for j := range gradient[i] {
			gradient[i][j] *= weights[i]
		}
	}
	return gradient
}

// ratios returns the ratio of each token; all of a row are one at sequence
// level.
func (t Tokens) ratios(level string) [][]float64 {
	ratios := make([][]float64, len(t.LogProbs))
	for i, row := range t.LogProbs {
		ratios[i] = make([]float64, len(row))
		for j, logp := range row {
			if t.Old != nil {
				ratios[i][j] = logp - t.Old[i][j]
			}
		}
		if level == LevelSequence {
			t.level(i, ratios[i])
		}
		for j, r := range ratios[i] {
			ratios[i][j] = math.Exp(r)
		}
	}
	return ratios
}

// level replaces the log-ratios of row i by their mean over the kept tokens.
func (t Tokens) level(i int, logRatios []float64) {
	sum := 0.0
	for j, r := range logRatios {
		if t.kept(i, j) {
			sum += r
		}
	}
	mean := sum / float64(max(1, t.length(i)))
	for j := range logRatios {
		logRatios[j] = mean
	}
}

// weights returns what a token of each row weighs in the loss.
func (t Tokens) weights(c Config) []float64 {
	weights := make([]float64, len(t.LogProbs))
	total := 0
	for i := range weights {
		total += t.length(i)
	}
	for i := range weights {
		switch c.Type {
		case LossGRPO:
			weights[i] = 1 / float64(len(weights)*max(1, t.length(i)))
		case LossDrGRPO:
			weights[i] = 1 / float64(len(weights)*c.MaxCompletionLength)
		default: // bnpo and dapo; Validate admits no other
			weights[i] = 1 / float64(max(1, total))
		}
	}
	return weights
}

// row returns the sum of row i's token losses and its gradient.
func (t Tokens) row(i int, ratios []float64, c Config) (sum float64, gradient []float64) {
	gradient = make([]float64, len(ratios))
	shared, n := 0.0, t.length(i)
	for j, ratio := range ratios {
		if !t.kept(i, j) {
			continue
		}
		surrogate, slope := surrogate(ratio, t.Advantages[i], c)
		sum -= surrogate
		if c.Level == LevelSequence {
			shared -= slope / float64(n)
		} else {
			gradient[j] = -slope
		}
		if c.Beta != 0 {
			kl, slope := divergence(t.LogProbs[i][j]-t.Ref[i][j], c.KL)
			sum += c.Beta * kl
			gradient[j] += c.Beta * slope
		}
	}
	for j := range gradient {
		if t.kept(i, j) {
			gradient[j] += shared
		}
	}
	return sum, gradient
}

// surrogate is min(ρA, clip(ρ)A) and its derivative by log ρ, which is 0 where
// the clipped side is the smaller.
func surrogate(ratio, advantage float64, c Config) (value, slope float64) {
	if advantage == 0 {
		return 0, 0 // also for a ratio that overflowed
	}
	plain := ratio * advantage
	clipped := min(max(ratio, 1-c.Epsilon), 1+c.high()) * advantage
	if plain <= clipped {
		return plain, plain
	}
	return clipped, 0
}

// divergence is one token's estimate for d = logp − ref, and its derivative.
func divergence(d float64, kind string) (value, slope float64) {
	switch kind {
	case KL1:
		return d, 1
	case KL2:
		return d * d / 2, d
	default: // k3; Validate admits no other
		return math.Expm1(-d) + d, -math.Expm1(-d)
	}
}
