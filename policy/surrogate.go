package policy

import (
	"math"

	"toolgym/grpo/objective"
	"toolgym/policy/internal/network"
)

// surrogate is the loss of the update grpo: the code that scores language
// models, on this batch's log-probabilities. start has the starting policy's.
// The first update after sampling is by the policy that sampled, and notes its
// log-probabilities for those that follow.
func (l *Learner) surrogate(b *Batch, start []float32) network.Surrogate {
	size := l.net.config.Batch
	rows := func(from func(i int) float64, like [][]float64) [][]float64 {
		out := make([][]float64, len(like))
		memory := make([]float64, 0, size*l.net.config.Steps)
		for i, row := range like {
			for t := range row {
				memory = append(memory, from(t*size+i))
			}
			out[i] = memory[len(memory)-len(row):]
		}
		return out
	}
	return func(logProbs [][]float64) (network.Relation, error) {
		if !b.sampled {
			for i, p := range l.graph.Loss.LogP {
				b.logProbs[i] = float64(p)
			}
			b.sampled = true
		}
		loss, err := objective.Compute(objective.Tokens{
			LogProbs: logProbs, Advantages: b.Advantages,
			Old: rows(func(i int) float64 { return b.logProbs[i] }, logProbs),
			Ref: rows(func(i int) float64 { return float64(start[i]) }, logProbs),
		}, l.net.config.GRPO)
		if err != nil {
			return network.Relation{}, err
		}
		return relation(loss, b.Advantages), nil
	}
}

// relation translates a loss. Its pointers are set: old and reference
// log-probabilities were given.
func relation(loss objective.Loss, advantages []float64) network.Relation {
	r := network.Relation{
		Loss: *loss.Value, Gradient: loss.Gradient, KL: loss.KL.K3,
		ClipLow: loss.Clip.Low, ClipHigh: loss.Clip.High,
	}
	for _, a := range advantages {
		r.Advantage += math.Abs(a) / float64(len(advantages))
	}
	return r
}
