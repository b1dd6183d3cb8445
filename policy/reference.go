package policy

import "toolgym/policy/internal/network"

// reference runs the starting policy over a batch's plans, which the graph
// holds, and returns its log-probabilities.
type reference struct {
	forward  *network.Forward[float32]
	probs    []float32
	logProbs []float32
}

func newReference(n *Net) *reference {
	f := network.NewForward(n.arithmetic, n.params, n.config.size(n.config.Batch))
	f.Prepare() // once: the starting policy is frozen
	return &reference{f, make([]float32, len(f.Logits)), make([]float32, len(f.Values))}
}

func (r *reference) run(n *Net, like *network.Forward[float32], actions []int) []float32 {
	copy(r.forward.Contexts, like.Contexts)
	copy(r.forward.Stages, like.Stages)
	r.forward.Follow(actions)
	network.LogProbs(n.arithmetic, r.forward.Logits, n.params.Vocabulary, actions, r.probs, r.logProbs)
	return r.logProbs
}
