package nn

import (
	"fmt"
	"math"

	"toolgym/grpo/objective"
	"toolgym/policy/internal/blas"
)

// The update rules.
const (
	Documented = "documented" // actor-critic as published: one advantage per episode, no mask
	A2C        = "a2c"        // actor-critic, masked after the end, advantages by GAE
	GRPO       = "grpo"       // given advantages, clipped ratios, KL to the reference policy
)

// entropyFloor is added inside the logarithm of the entropy, as published.
const entropyFloor = 1e-9

// Objective is an update rule and its coefficients.
type Objective struct {
	Rule             string
	Value, Entropy   float64          // coefficients of the value loss and of the entropy
	Discount, Lambda float64          // γ and λ of GAE, for A2C
	GRPO             objective.Config // for GRPO
}

// Episodes are what B episodes did in up to T steps. Rows belong to episodes;
// only Actions, which the network reads, are ordered by step.
type Episodes[F blas.Float] struct {
	Actions []int // (T·B) the token of episode b at step t is at t·B + b
	Lengths []int // (B) steps that count; Documented counts all
	Rewards [][]F // (B, T) for the actor-critic rules

	// For GRPO: advantages, and the log-probabilities of the actions under the
	// policy that sampled them and under the reference policy. A nil Old means
	// the present policy, so that all ratios are 1.
	Advantages []float64   // (B)
	Old, Ref   [][]float64 // (B, T)
}

// Statistics are the values of a loss.
type Statistics struct {
	Loss, PolicyLoss, ValueLoss float64
	Entropy                     float64 // mean over the steps that count
	Advantage                   float64 // mean of the absolute value
	KL                          float64 // of GRPO: to the reference policy, estimator k3
	ClipLow, ClipHigh           float64 // of GRPO: share of steps whose ratio was clipped
}

// Loss computes the loss of a batch and its gradients with respect to logits
// and values. Its buffers are allocated once.
type Loss[F blas.Float] struct {
	Objective  Objective
	Episodes   Episodes[F]
	Statistics Statistics
	P          []F         // (T·B, vocabulary) softmax of the logits
	LogProbs   [][]float64 // (B, T) of the actions
	Entropies  []F         // (T·B) −Σ p·log(p + floor)
	DLogits    []F         // (T·B, vocabulary)
	DValues    []F         // (T·B)

	k                        blas.Arithmetic[F]
	batch, steps, vocabulary int
	logs                     []F         // (T·B, vocabulary) log(p + floor)
	values                   [][]float64 // (B, T)
	dLogProbs, dValues       [][]float64 // (B, T)
}

// NewLoss returns a loss for batches of one size.
func NewLoss[F blas.Float](k blas.Arithmetic[F], batch, steps, vocabulary int) *Loss[F] {
	n := steps * batch
	return &Loss[F]{
		k: k, batch: batch, steps: steps, vocabulary: vocabulary,
		Episodes: Episodes[F]{Actions: make([]int, n), Lengths: make([]int, batch), Rewards: NewRows[F](batch, steps)},
		P:        make([]F, n*vocabulary), DLogits: make([]F, n*vocabulary), logs: make([]F, n*vocabulary),
		Entropies: make([]F, n), DValues: make([]F, n),
		LogProbs: NewRows[float64](batch, steps), values: NewRows[float64](batch, steps),
		dLogProbs: NewRows[float64](batch, steps), dValues: NewRows[float64](batch, steps),
	}
}

// NewRows returns a matrix (batch, steps) of zeros.
func NewRows[F blas.Float](batch, steps int) [][]F {
	memory, rows := make([]F, batch*steps), make([][]F, batch)
	for b := range rows {
		rows[b] = memory[b*steps : (b+1)*steps : (b+1)*steps]
	}
	return rows
}

// Compute sets the statistics, the log-probabilities and the gradients, given
// logits (T·B, vocabulary) and values (T·B). It fails if GRPO's numbers are
// invalid.
func (l *Loss[F]) Compute(logits, values []F) error {
	LogProbs(l.k, logits, l.vocabulary, l.Episodes.Actions, l.P, l.LogProbs)
	for b, row := range l.values {
		for t := range row {
			row[t] = float64(values[t*l.batch+b])
		}
		clear(l.dLogProbs[b])
		clear(l.dValues[b])
	}
	var s Statistics
	switch l.Objective.Rule {
	case Documented:
		s = documentedLoss(l.Objective.Value, l.Episodes.Rewards, l.LogProbs, l.values, l.dLogProbs, l.dValues)
	case A2C:
		s = a2cLoss(l.Objective, l.Episodes.Rewards, l.Episodes.Lengths, l.LogProbs, l.values, l.dLogProbs, l.dValues)
	case GRPO:
		var err error
		if s, err = grpoLoss(l.Objective.GRPO, l.Episodes, l.LogProbs, l.dLogProbs); err != nil {
			return fmt.Errorf("computing the GRPO loss: %w", err)
		}
	}
	s.Entropy = l.entropies()
	s.Loss = s.PolicyLoss + l.Objective.Value*s.ValueLoss - l.Objective.Entropy*s.Entropy
	l.Statistics = s
	l.gradients()
	return nil
}

// documentedLoss is the published update. With R the sum of an episode's
// rewards and V the sum of its values over all T steps,
//
//	loss = −mean(Σ logp·(R − V)) + valueCoef·mean((V − R)²)
//
// with no gradient through the advantage R − V. It sets the gradients dLogProbs
// and dValues. All matrices are (B, T).
func documentedLoss[F blas.Float](valueCoef float64, rewards [][]F, logProbs, values, dLogProbs, dValues [][]float64) Statistics {
	var s Statistics
	n := float64(len(logProbs))
	for b, row := range logProbs {
		var reward, value, logProb float64
		for t := range row {
			reward += float64(rewards[b][t])
			value += values[b][t]
			logProb += row[t]
		}
		advantage := reward - value
		s.PolicyLoss -= logProb * advantage / n
		s.ValueLoss += advantage * advantage / n
		s.Advantage += math.Abs(advantage) / n
		for t := range row {
			dLogProbs[b][t] = -advantage / n
			dValues[b][t] = -2 * valueCoef * advantage / n
		}
	}
	return s
}

// a2cLoss takes one advantage per step by generalized advantage estimation
// (Schulman et al., 2016),
//
//	δ_t = r_t + γ·V_{t+1} − V_t        A_t = δ_t + γ·λ·A_{t+1}
//
// with V = A = 0 after the end. The critic's target is A_t + V_t. The policy
// loss is the mean over episodes of −Σ logp·A; value loss and advantage are
// means over the steps that count. Matrices are (B, T), lengths (B).
func a2cLoss[F blas.Float](o Objective, rewards [][]F, lengths []int, logProbs, values, dLogProbs, dValues [][]float64) Statistics {
	var s Statistics
	n, count := float64(len(logProbs)), 0.0
	for b, row := range logProbs {
		count += float64(min(lengths[b], len(row)))
	}
	count = max(count, 1)
	for b, row := range logProbs {
		next, advantage := 0.0, 0.0
		for t := min(lengths[b], len(row)) - 1; t >= 0; t-- {
			value := values[b][t]
			advantage = float64(rewards[b][t]) + o.Discount*next - value + o.Discount*o.Lambda*advantage
			next = value
			s.PolicyLoss -= row[t] * advantage / n
			s.ValueLoss += advantage * advantage / count
			s.Advantage += math.Abs(advantage) / count
			dLogProbs[b][t] = -advantage / n
			dValues[b][t] = -2 * o.Value * advantage / count
		}
	}
	return s
}

// grpoLoss is the loss of package objective, which has no critic. Log-probabilities
// that are not finite, as of a diverged network, give a gradient that is NaN.
func grpoLoss[F blas.Float](c objective.Config, e Episodes[F], logProbs, dLogProbs [][]float64) (Statistics, error) {
	played := prefixes(logProbs, e.Lengths)
	if !finite(played) {
		for _, row := range dLogProbs {
			for t := range row {
				row[t] = math.NaN()
			}
		}
		return Statistics{PolicyLoss: math.NaN()}, nil
	}
	old := played
	if e.Old != nil {
		old = prefixes(e.Old, e.Lengths)
	}
	loss, err := objective.Compute(objective.Tokens{LogProbs: played, Old: old, Ref: prefixes(e.Ref, e.Lengths), Advantages: e.Advantages}, c)
	if err != nil {
		return Statistics{}, err
	}
	for b, row := range loss.Gradient {
		copy(dLogProbs[b], row)
	}
	// KL and Clip are set, since Old and Ref were given.
	s := Statistics{PolicyLoss: *loss.Value, KL: loss.KL.K3, ClipLow: loss.Clip.Low, ClipHigh: loss.Clip.High}
	for _, a := range e.Advantages {
		s.Advantage += math.Abs(a) / float64(len(e.Advantages))
	}
	return s, nil
}

// prefixes returns the first lengths[b] values of each row.
func prefixes(rows [][]float64, lengths []int) [][]float64 {
	cut := make([][]float64, len(rows))
	for b, row := range rows {
		cut[b] = row[:min(lengths[b], len(row))]
	}
	return cut
}

func finite(rows [][]float64) bool {
	for _, row := range rows {
		for _, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}

// Counts reports whether step t of episode b counts.
func (l *Loss[F]) Counts(b, t int) bool {
	return l.Objective.Rule == Documented || t < l.Episodes.Lengths[b]
}

// count returns the number of steps that count, at least 1.
func (l *Loss[F]) count() float64 {
	n := 0
	for i := range l.Entropies {
		if l.Counts(i%l.batch, i/l.batch) {
			n++
		}
	}
	return float64(max(n, 1))
}

// entropies computes −Σ p·log(p + floor) at each step, and returns the mean
// over the steps that count.
func (l *Loss[F]) entropies() float64 {
	sum := 0.0
	for i := range l.Entropies {
		var h F
		for j := i * l.vocabulary; j < (i+1)*l.vocabulary; j++ {
			l.logs[j] = F(math.Log(float64(l.P[j]) + entropyFloor))
			h -= l.P[j] * l.logs[j]
		}
		l.Entropies[i] = h
		if l.Counts(i%l.batch, i/l.batch) {
			sum += float64(h)
		}
	}
	return sum / l.count()
}

// gradients sets DLogits and DValues, given those of log-probabilities and
// values by episode. With one-hot e of the action,
//
//	∂logp/∂logits = e − p
//	∂entropy/∂logits_i = p_i·(g_i − Σ p·g),  g = −log(p + floor) − p ÷ (p + floor)
func (l *Loss[F]) gradients() {
	weight := F(-l.Objective.Entropy / l.count())
	for i, action := range l.Episodes.Actions {
		b, t := i%l.batch, i/l.batch
		l.DValues[i] = F(l.dValues[b][t])
		from, to := i*l.vocabulary, (i+1)*l.vocabulary
		p, logs, out := l.P[from:to], l.logs[from:to], l.DLogits[from:to]
		if !l.Counts(b, t) {
			clear(out)
			continue
		}
		mean := -l.Entropies[i]
		for _, q := range p {
			mean += q * (q / (q + entropyFloor))
		}
		d := F(l.dLogProbs[b][t])
		for j, q := range p {
			out[j] = q * (weight*(mean-logs[j]-q/(q+entropyFloor)) - d)
		}
		out[action] += d
	}
}
