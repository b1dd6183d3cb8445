package stats

// PassAt is pass@k: the probability that at least one of k trials, drawn
// without replacement from the n of a task, is one of the c that passed.
//
//	pass@k = 1 − C(n−c, k) / C(n, k) = 1 − ∏ᵢ (n−c−i)/(n−i), i = 0 … k−1
//
// Source: M. Chen et al., "Evaluating Large Language Models Trained on Code",
// arXiv:2107.03374, equation 1. It panics unless 0 ≤ c ≤ n and 1 ≤ k ≤ n.
func PassAt(n, c, k int) float64 { return 1 - choose(n, n-c, k) }

// PassAll is pass^k: the probability that all of k trials drawn without
// replacement passed, C(c, k) / C(n, k). Source: S. Yao et al., "τ-bench",
// arXiv:2406.12045, section 3. It panics unless 0 ≤ c ≤ n and 1 ≤ k ≤ n.
func PassAll(n, c, k int) float64 { return choose(n, c, k) }

// choose is C(c, k)/C(n, k) as a product of k factors, without a factorial.
func choose(n, c, k int) float64 {
	if c < 0 || c > n || k < 1 || k > n {
		panic("stats: want 0 ≤ c ≤ n and 1 ≤ k ≤ n")
	}
	if c < k {
		return 0
	}
	p := 1.0
	for i := range k {
		p *= float64(c-i) / float64(n-i)
	}
	return p
}

// Curves averages pass@k and pass^k over tasks, for k from 1 to the fewest
// scored trials of a task. Tasks without a scored trial take no part.
func Curves(tasks []Count) (passAt, passAll []float64) {
	most, n := 0, 0.0
	for _, t := range tasks {
		if t.Scored > 0 && (most == 0 || t.Scored < most) {
			most = t.Scored
		}
		if t.Scored > 0 {
			n++
		}
	}
	passAt, passAll = make([]float64, most), make([]float64, most)
	for k := range most {
		for _, t := range tasks {
			if t.Scored > 0 {
				passAt[k] += PassAt(t.Scored, t.Passed, k+1) / n
				passAll[k] += PassAll(t.Scored, t.Passed, k+1) / n
			}
		}
	}
	return passAt, passAll
}
