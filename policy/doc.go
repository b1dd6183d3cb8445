// Package policy is the local policy: a GRU actor-critic, trained on the spot, that
// plans calls for the environments of this module. 96 wide it has 115,795 weights,
// of which the GRU that reads contexts has half: with the published means in its
// place ([PoolBatch], [PoolOwn]) they are 59,923.
//
// A [Net] reads a [Prompt] (the context's tokens and a stage) and writes a plan,
// token by token. An [Actor] makes plans greedily or by sampling. A [Learner]
// samples a [Batch], is told what the plans were paid, and makes an update:
//
//	net, err := policy.NewNet(policy.Default(policy.UpdateA2C, policy.PoolOrdered), rand.NewPCG(1, 1))
//	learner, err := policy.NewLearner(net)
//	batch := learner.NewBatch()
//	for {
//		// fill in batch.Prompts
//		err = learner.Sample(batch, rng)
//		batch.Play(begin, enumerator.Act)
//		metrics, err := learner.Update(batch)
//	}
//
// # Network
//
//	h₀ = tanh(pool(emb(context)) + stage_emb(stage))
//	r = σ(W_ir·x + b_ir + W_hr·h + b_hr)      z = σ(W_iz·x + b_iz + W_hz·h + b_hz)
//	n = tanh(W_in·x + b_in + r∘(W_hn·h + b_hn))      h' = (1 − z)∘n + z∘h
//	logits = pi(h'), value = v(h')
//
// The first input is the embedding of [CTX], each next one that of the token
// chosen before. pool is the mean of the context's embeddings, or the last state
// of a GRU over them. Weights are drawn by PyTorch's defaults; where what was read
// has to last for long, [Config] has a memory for the gates z. Names and shapes of
// the weights are PyTorch's, so that a checkpoint opens there as it is.
//
// # Updates
//
// The documented update is the published one, defects included: its advantage
// is the episode's reward less the sum of all its values, and tokens after the
// end carry gradient. The update a2c mends this: what follows the end is masked,
// and advantages are taken step by step (GAE; Schulman et al., 2016). The update
// grpo (Shao et al., 2024) has no critic: advantages are handed in, and the loss is
// that of package objective, the one that scores language models. All are steps of
// Adam along a gradient that is clipped to a global norm.
//
// # Speed and exactness
//
// Gradients come from one static gorgonia graph whose heavy parts are fused and
// run on AVX2 kernels, where the processor has them (package vector). Sampling
// is the forward pass of the update that follows it. Two runs from one seed on
// one machine give the same bits.
package policy
