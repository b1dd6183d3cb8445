// Package policy trains a GRU actor-critic that plans tool calls for the
// environments of this module. With a width of 96 it has 115,795 weights; half of
// them belong to the GRU that reads contexts. With the published means instead
// ([PoolBatch], [PoolOwn]) it has 59,923.
//
// A [Net] reads a [Prompt] (the tokens of a context, and a stage) and writes a plan
// token by token. An [Actor] plans greedily or by sampling. A [Learner] samples a
// [Batch], gets the rewards of its plans, and makes an update:
//
//	c := policy.Default(policy.UpdateA2C, policy.PoolOrdered, enumerator.Vocabulary())
//	net, err := policy.NewNet(c, rand.NewPCG(1, 1))
//	learner, err := policy.NewLearner(net)
//	batch := learner.NewBatch()
//	for {
//		// set batch.Prompts
//		err = learner.Sample(batch, rng)
//		batch.Play(begin, enumerator.Act)
//		metrics, err := learner.Update(batch)
//	}
//
// Tokens belong to the environment ([toolgym/tools.Enumerator]); the package works
// for any environment that has one.
//
// # Network
//
//	h₀ = tanh(pool(emb(context)) + stage_emb(stage))
//	r = σ(W_ir·x + b_ir + W_hr·h + b_hr)      z = σ(W_iz·x + b_iz + W_hz·h + b_hz)
//	n = tanh(W_in·x + b_in + r∘(W_hn·h + b_hn))      h' = (1 − z)∘n + z∘h
//	logits = pi(h'), value = v(h')
//
// The first input is the embedding of the vocabulary's start token, and each next
// input that of the token chosen before. pool is the mean of the context's
// embeddings, or the last state of a GRU over them. Weights are initialized by
// PyTorch's defaults; [Config] has a bias for the update gates z, for contexts that
// must be remembered for long. Names and shapes of the weights are PyTorch's, so
// that PyTorch opens a checkpoint as it is.
//
// # Updates
//
// The documented update is the published one, with its defects: its advantage is
// the episode's reward minus the sum of all its values, and tokens after the end
// have a gradient. The update a2c corrects this: tokens after the end are masked,
// and each step has its own advantage (GAE; Schulman et al., 2016). The update grpo
// (Shao et al., 2024) has no critic: the caller sets advantages, and the loss is
// that of package objective, which also scores language models. All updates are
// steps of Adam along a gradient clipped to a global norm.
//
// An update passes through these files: batch.go (the data), learner.go, then
// internal/nn (forward.go, graph.go, loss.go, adam.go), and metrics.go.
//
// # Speed and reproducibility
//
// Gradients come from one static gorgonia graph whose expensive parts are fused and
// run on AVX2 kernels, where the processor has them (package internal/blas). The
// forward pass of sampling is reused by the update that follows. Two runs from one
// seed on one machine give the same bits.
package policy
