package policy

import (
	"math"
	"slices"

	"toolgym/grpo/objective"
	"toolgym/policy/internal/update"
)

// surrogate is the loss of the update grpo: the code that scores language
// models, on a batch's log-probabilities.
type surrogate struct {
	config     objective.Config
	advantages []float64
	old, start []float64 // (steps·batch) log-probabilities when sampled, and under the starting policy
}

var _ update.Surrogate = surrogate{}.relate

// relate computes the loss of the episodes' log-probabilities.
func (s surrogate) relate(logProbs [][]float64) (update.Relation, error) {
	loss, err := objective.Compute(objective.Tokens{
		LogProbs: logProbs, Advantages: s.advantages,
		Old: s.byEpisode(s.old, logProbs), Ref: s.byEpisode(s.start, logProbs),
	}, s.config)
	if err != nil {
		return update.Relation{}, err
	}
	// The pointers are set: old and reference log-probabilities were given.
	r := update.Relation{
		Loss: *loss.Value, Gradient: loss.Gradient, KL: loss.KL.K3,
		ClipLow: loss.Clip.Low, ClipHigh: loss.Clip.High,
	}
	for _, a := range s.advantages {
		r.Advantage += math.Abs(a) / float64(len(s.advantages))
	}
	return r, nil
}

// byEpisode turns rows of steps into rows of episodes, as long as those of
// like.
func (s surrogate) byEpisode(steps []float64, like [][]float64) [][]float64 {
	batch := len(s.advantages)
	memory := make([]float64, 0, len(steps))
	rows := make([][]float64, len(like))
	for b, row := range like {
		from := len(memory)
		for t := range row {
			memory = append(memory, steps[t*batch+b])
		}
		rows[b] = memory[from:]
	}
	return rows
}

// surrogate returns the loss of a batch. The first update after sampling is by
// the policy that sampled, and notes its log-probabilities for those that
// follow. Prompts or plans that were changed by hand begin anew.
func (l *Learner) surrogate(b *Batch, start []float32) update.Surrogate {
	content := b.content()
	b.sampled = b.sampled && slices.Equal(content, b.of)
	s := surrogate{config: l.net.config.GRPO, advantages: b.Advantages, old: b.logProbs, start: widen(start, nil)}
	return func(logProbs [][]float64) (update.Relation, error) {
		if !b.sampled {
			b.logProbs = widen(l.graph.Loss.LogP, b.logProbs)
			b.sampled, b.of = true, content
		}
		return s.relate(logProbs)
	}
}

// widen copies to float64, into memory that is long enough or new.
func widen(values []float32, memory []float64) []float64 {
	if len(memory) < len(values) {
		memory = make([]float64, len(values))
	}
	for i, x := range values {
		memory[i] = float64(x)
	}
	return memory
}
