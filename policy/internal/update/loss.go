package update

import (
	"fmt"
	"math"

	"toolgym/policy/internal/network"
	"toolgym/policy/internal/vector"
)

// entropyFloor is added inside the logarithm of the entropy, as published.
const entropyFloor = 1e-9

// Loss computes the loss of a batch and its gradients. Its buffers are
// allocated once.
type Loss[F vector.Float] struct {
	Objective Objective
	Episodes  Episodes[F]
	Figures   Figures
	P         []F // (steps·batch, vocabulary) softmax of the logits
	LogP      []F // (steps·batch) at the actions
	DLogits   []F // (steps·batch, vocabulary)
	DValues   []F // (steps·batch)

	k                        vector.Arithmetic[F]
	batch, steps, vocabulary int
	logs                     []F // (steps·batch, vocabulary) log(p + floor)
	entropy, dLogP           []F // (steps·batch)
	live                     []bool
	count                    int         // steps that count
	rows                     [][]float64 // the memory of Relative's log-probabilities
}

// NewLoss returns a loss for batches of one size.
func NewLoss[F vector.Float](k vector.Arithmetic[F], batch, steps, vocabulary int) *Loss[F] {
	rows := steps * batch
	vector := func() []F { return make([]F, rows) }
	matrix := func() []F { return make([]F, rows*vocabulary) }
	return &Loss[F]{
		k: k, batch: batch, steps: steps, vocabulary: vocabulary,
		Episodes: Episodes[F]{Actions: make([]int, rows), Lengths: make([]int, batch), Rewards: vector()},
		P:        matrix(), LogP: vector(), DLogits: matrix(), DValues: vector(),
		logs: matrix(), entropy: vector(), dLogP: vector(), live: make([]bool, rows),
	}
}

// Compute takes logits (steps·batch × vocabulary) and values (steps·batch) and
// sets Figures, P, LogP and the gradients. Its errors are the surrogate's.
func (l *Loss[F]) Compute(logits, values []F) error {
	network.LogProbs(l.k, logits, l.vocabulary, l.Episodes.Actions, l.P, l.LogP)
	l.mask()
	l.Figures = Figures{}
	l.entropies()
	clear(l.dLogP)
	clear(l.DValues)
	switch l.Objective.Kind {
	case Documented:
		l.documented(values)
	case Sound:
		l.sound(values)
	case Relative:
		if err := l.relative(); err != nil {
			return fmt.Errorf("computing the surrogate: %w", err)
		}
	}
	f := &l.Figures
	f.Loss = f.PolicyLoss + l.Objective.Value*f.ValueLoss - l.Objective.Entropy*f.Entropy
	l.gradients()
	return nil
}

// mask marks the steps that count.
func (l *Loss[F]) mask() {
	l.count = 0
	for i := range l.live {
		l.live[i] = l.Objective.Kind == Documented || i/l.batch < l.Episodes.Lengths[i%l.batch]
		if l.live[i] {
			l.count++
		}
	}
}

// entropies computes −Σ p·log(p + floor) of each row.
func (l *Loss[F]) entropies() {
	sum := 0.0
	for i := range l.entropy {
		var h F
		for j := i * l.vocabulary; j < (i+1)*l.vocabulary; j++ {
			l.logs[j] = F(math.Log(float64(l.P[j]) + entropyFloor))
			h -= l.P[j] * l.logs[j]
		}
		l.entropy[i] = h
		if l.live[i] {
			sum += float64(h)
		}
	}
	l.Figures.Entropy = sum / float64(max(l.count, 1))
}

// gradients sets DLogits, given dLogP. With one-hot e of the action,
//
//	∂logp/∂logits = e − p
//	∂entropy/∂logits_i = p_i·(g_i − Σ p·g),  g = −log(p + floor) − p ÷ (p + floor)
func (l *Loss[F]) gradients() {
	weight := F(-l.Objective.Entropy / float64(max(l.count, 1)))
	for i, action := range l.Episodes.Actions {
		from, to := i*l.vocabulary, (i+1)*l.vocabulary
		p, logs, out := l.P[from:to], l.logs[from:to], l.DLogits[from:to]
		if !l.live[i] {
			clear(out)
			continue
		}
		mean := -l.entropy[i]
		for _, q := range p {
			mean += q * (q / (q + entropyFloor))
		}
		d := l.dLogP[i]
		for j, q := range p {
			out[j] = q * (weight*(mean-logs[j]-q/(q+entropyFloor)) - d)
		}
		out[action] += d
	}
}

// Entropies returns the entropy of each row (steps·batch).
func (l *Loss[F]) Entropies() []F { return l.entropy }

// Counts says whether a row (t·batch + b) counted in the last loss.
func (l *Loss[F]) Counts(row int) bool { return l.live[row] }
