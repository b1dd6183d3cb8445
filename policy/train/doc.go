// Package train teaches a policy: it draws tasks by a curriculum, lets the
// policy plan, plays the plans on the bare state machine of an environment, and
// hands what they were paid to the learner of package policy.
//
//	config, err := train.Default(arithmetic.Spec(), train.Choice{
//		Levels: []string{"0", "1", "2"}, Rules: tools.Sound, Curriculum: train.Mastery,
//		Algorithm: train.GRPO, Pool: policy.PoolOrdered, Seed: 1,
//	})
//	trainer, err := train.New(arithmetic.Spec(), config)
//	result, err := trainer.Run(ctx, train.Options{Checkpoint: "policy.safetensors"})
//
// # Curricula
//
// The documented one is the published: stages 0, 0, 0, 1, 1, 2, ten updates
// each, with a greedy evaluation every fifth update. Together with the
// documented rules and A2C it is the published run, defects included.
//
// Mastery mixes the levels in every batch. A level's share is 0.1 plus the rate
// at which its sampled plans fail, so that what is hard gets most, and what is
// mastered is never forgotten. Every few updates all levels are evaluated
// greedily; the run ends when each has 99 % success on 1,000 fresh tasks, or at
// its budget of updates. A level that makes no progress for long makes the run
// start again, from a seed derived from its own; the updates made so far count.
//
// Tasks that a shorter plan solves by accident are left out of training under
// the sound rules, and never out of an evaluation. With HoldOut, a share of the
// tasks, chosen by their context, is left out of training too, and evaluations
// are made on these alone: success is then success on tasks never seen.
//
// # Bit for bit
//
// A checkpoint holds weights, optimizer, random source and curriculum. A run
// that is stopped and resumed ends with the same bits as one that was not.
// Evaluations draw from sources of their own, derived from the seed and the
// update, so that they change nothing.
package train
