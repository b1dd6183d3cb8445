// Package train trains a policy: it draws tasks by a curriculum, samples plans from
// the policy, plays them on the bare state machine of an environment, and passes the
// rewards to the learner of package policy.
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
// The documented curriculum is the published one: stages 0, 0, 0, 1, 1, 2, ten updates
// each, with a greedy evaluation every five updates. Together with the documented
// rules and A2C it is the published run, with its defects.
//
// Mastery mixes the levels in every batch. A level's share is proportional to 0.1 plus
// the failure rate of its sampled plans, so that hard levels get the most tasks and
// mastered ones are not forgotten. Greedy evaluations of all levels follow at regular
// intervals; the run ends when each level has 99 % success on 1,000 fresh tasks, or
// after the maximum number of updates. If a level makes no progress for too long, the
// run restarts from a seed derived from its own; the updates made so far count.
//
// Under the sound rules, training leaves out tasks that a shorter plan solves by
// accident; evaluations include them. With HoldOut, training also leaves out a
// fraction of the tasks, selected by their context, and evaluations use only these:
// success is then success on unseen tasks.
//
// # Reproducibility
//
// A checkpoint holds weights, optimizer, random source and curriculum. A run that is
// stopped and resumed ends with the same bits as one that was not. Evaluations draw
// from separate sources, derived from the seed and the update, so that they do not
// change the run.
//
// A run passes through the files run.go, trainer.go, curriculum.go, evaluate.go and
// progress.go in this order.
package train
