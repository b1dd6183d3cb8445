package skill

import "slices"

// A Summary is what a course has shown: medians over the episodes of all runs
// in which nothing was learnt any more, or over all where none were set apart.
type Summary struct {
	MedianDecisions     float64 `json:"median_decisions"`
	MedianSteps         float64 `json:"median_steps"`
	BaselineMedianSteps float64 `json:"baseline_median_steps"` // of the explorer without skills, whose steps are its decisions
	// OptimumRatio is the steps of all these episodes, of those that failed too,
	// over the steps that their tasks need.
	OptimumRatio float64 `json:"optimum_ratio"`
}

// Summarise computes the summary of a course's episodes.
func Summarise(episodes []Episode) Summary {
	part := Learning
	if slices.ContainsFunc(episodes, func(e Episode) bool { return e.Part == Evaluating }) {
		part = Evaluating
	}
	var decisions, steps, baseline []float64
	taken, optimal := 0, 0
	for _, e := range episodes {
		switch {
		case e.Part != part:
		case e.Agent == WithoutSkills:
			baseline = append(baseline, float64(e.Steps))
		default:
			decisions, steps = append(decisions, float64(e.Decisions)), append(steps, float64(e.Steps))
			taken, optimal = taken+e.Steps, optimal+e.Optimal
		}
	}
	s := Summary{MedianDecisions: quantile(decisions, 0.5), MedianSteps: quantile(steps, 0.5), BaselineMedianSteps: quantile(baseline, 0.5)}
	if optimal > 0 {
		s.OptimumRatio = float64(taken) / float64(optimal)
	}
	return s
}

// quantile interpolates between the closest ranks (Hyndman and Fan, type 7);
// it is 0 of nothing.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
