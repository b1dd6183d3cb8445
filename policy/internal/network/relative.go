package network

// relative hands the log-probabilities of the steps that count to the
// surrogate, and takes its loss and gradient. There is no critic.
func (l *Loss[F]) relative() error {
	relation, err := l.Objective.Surrogate(l.episodeLogProbs())
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

// episodeLogProbs returns a row for each episode.
func (l *Loss[F]) episodeLogProbs() [][]float64 {
	if l.rows == nil {
		l.rows = make([][]float64, l.batch)
	}
	for b := range l.rows {
		l.rows[b] = l.rows[b][:0]
		for t := range min(l.Episodes.Lengths[b], l.steps) {
			l.rows[b] = append(l.rows[b], float64(l.LogP[t*l.batch+b]))
		}
	}
	return l.rows
}
