package update

import "math"

// relative hands the log-probabilities of the steps that count to the
// surrogate, and takes its loss and gradient. There is no critic.
func (l *Loss[F]) relative() error {
	rows, finite := l.episodeLogProbs()
	if !finite {
		l.notANumber()
		return nil
	}
	relation, err := l.Objective.Surrogate(rows)
	if err != nil {
		return err
	}
	f := &l.Figures
	f.PolicyLoss, f.Advantage, f.KL = relation.Loss, relation.Advantage, relation.KL
	f.ClipLow, f.ClipHigh = relation.ClipLow, relation.ClipHigh
	for b, row := range relation.Gradient {
		for t, d := range row {
			l.dLogP[t*l.batch+b] = F(d)
		}
	}
	return nil
}

// episodeLogProbs returns a row for each episode, and whether all numbers are
// finite.
func (l *Loss[F]) episodeLogProbs() (rows [][]float64, finite bool) {
	if l.rows == nil {
		l.rows = make([][]float64, l.batch)
	}
	finite = true
	for b := range l.rows {
		l.rows[b] = l.rows[b][:0]
		for t := range min(l.Episodes.Lengths[b], l.steps) {
			x := float64(l.LogP[t*l.batch+b])
			finite = finite && !math.IsNaN(x) && !math.IsInf(x, 0)
			l.rows[b] = append(l.rows[b], x)
		}
	}
	return l.rows, finite
}

// notANumber lets a diverged network show in the gradient, as it does with the
// other updates, instead of as numbers that the surrogate refuses.
func (l *Loss[F]) notANumber() {
	l.Figures.PolicyLoss = math.NaN()
	for i := range l.dLogP {
		l.dLogP[i] = F(math.NaN())
	}
}
