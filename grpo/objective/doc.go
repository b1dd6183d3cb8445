// Package objective turns the rewards of groups of completions, and the
// log-probabilities of their tokens, into the numbers of a GRPO update.
//
// # Advantages
//
// A group is the completions of one prompt. [Advantages] compares each reward
// with its group: r − mean, over the sample standard deviation of the group or
// of the batch, or over nothing. A completion without a reward (something
// other than the model failed) takes no part and gets advantage 0; so does a
// group of equal rewards, which carries no signal. [ByCriterion] normalizes
// each criterion before they are added up.
//
//	advantages, spreads, err := objective.Advantages([]objective.Rewards{{Values: []float64{1, 0, 0, 1}}}, objective.NormalizeGroup)
//
// # Loss
//
// [Compute] gives the clipped policy loss of a batch of log-probabilities, its
// gradient, and the figures that trainers log: the divergence from the
// reference policy by three estimators, and the share of clipped ratios. The
// equations and their sources stand above each function.
//
// Everything here is a pure function over slices of float64; a caller's
// mistake is a [*tools.Error] that says where it is and what would be right.
// The numbers are pinned by testdata/grpo.json, which was worked out with
// PyTorch, and the gradient by finite differences.
package objective
