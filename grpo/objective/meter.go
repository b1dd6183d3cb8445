package objective

import (
	"math"

	"toolgym/internal/refusal"
)

// A Meter works out the loss of a batch that comes in pieces, in memory that
// does not grow with it. It gives no gradient. It is used by one goroutine.
type Meter struct {
	config Config

	rows, kept         int     // completions, and tokens that the masks keep
	perRow, total      float64 // Σ_i (Σ_t l_it)/n_i and Σ l_it
	k1, k2, k3         float64 // sums over the kept tokens
	low, high, clipped int     // clipped below, above; out of how many ratios
	noRef, noOld       bool    // a piece came without
}

// NewMeter starts a batch under a configuration that is valid.
func NewMeter(c Config) (*Meter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Meter{config: c}, nil
}

// Add takes the next piece of the batch in.
func (m *Meter) Add(t Tokens) error {
	if err := t.check(); err != nil {
		return err
	}
	m.rows += len(t.LogProbs)
	m.noRef = m.noRef || t.Ref == nil && len(t.LogProbs) > 0
	m.noOld = m.noOld || t.Old == nil && len(t.LogProbs) > 0
	ratios := t.ratios(m.config.Level)
	for i := range t.LogProbs {
		m.kept += t.length(i)
		m.addDivergence(t, i)
		m.addClipping(t, i, ratios[i])
		if m.needsRef() && t.Ref == nil {
			continue
		}
		sum, _ := t.row(i, ratios[i], m.config)
		m.total += sum
		m.perRow += sum / float64(max(1, t.length(i)))
	}
	return nil
}

func (m *Meter) needsRef() bool { return m.config.Beta != 0 }

func (m *Meter) addDivergence(t Tokens, i int) {
	if t.Ref == nil {
		return
	}
	for j, logp := range t.LogProbs[i] {
		if !t.kept(i, j) {
			continue
		}
		d := logp - t.Ref[i][j]
		for _, estimate := range []struct {
			kind string
			sum  *float64
		}{{KL1, &m.k1}, {KL2, &m.k2}, {KL3, &m.k3}} {
			value, _ := divergence(d, estimate.kind)
			*estimate.sum += value
		}
	}
}

// addClipping counts the ratios of row i that are clipped: each token's, or
// the row's one at sequence level.
func (m *Meter) addClipping(t Tokens, i int, ratios []float64) {
	for j, ratio := range ratios {
		sequence := m.config.Level == LevelSequence
		if !t.kept(i, j) && !sequence {
			continue
		}
		m.clipped++
		switch a := t.Advantages[i]; {
		case ratio < 1-m.config.Epsilon && a < 0:
			m.low++
		case ratio > 1+m.config.high() && a > 0:
			m.high++
		}
		if sequence {
			return
		}
	}
}

// Loss is that of the pieces so far. What cannot be known is nil.
func (m *Meter) Loss() (Loss, error) {
	var loss Loss
	if m.rows > 0 && !m.noRef {
		n := float64(max(1, m.kept))
		loss.KL = &Divergence{m.k1 / n, m.k2 / n, m.k3 / n}
	}
	if m.rows > 0 && !m.noOld {
		n := float64(max(1, m.clipped))
		loss.Clip = &Clipping{Low: float64(m.low) / n, High: float64(m.high) / n, Region: float64(m.low+m.high) / n}
	}
	if m.rows == 0 || m.needsRef() && m.noRef {
		return loss, nil
	}
	value := m.value()
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Loss{}, refusal.New("logprobs", "log-probabilities whose ratios float64 can hold", "the loss is %v", value)
	}
	loss.Value = &value
	return loss, nil
}

func (m *Meter) value() float64 {
	switch m.config.Type {
	case LossGRPO:
		return m.perRow / float64(m.rows)
	case LossDrGRPO:
		return m.total / float64(m.rows*m.config.MaxCompletionLength)
	}
	return m.total / float64(max(1, m.kept)) // bnpo and dapo; Validate admits no other
}
