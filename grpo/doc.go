// Package grpo grades what a model wrote and turns the grades of a group of
// completions into what a GRPO trainer needs.
//
// The order of the work, each step a pure function with its own file:
//
//	attempts (package parse) → verdict → criteria → reward → group → advantages → loss and metrics
//
// # Advantages
//
// A group is the completions of one prompt. [Advantages] compares each reward
// with its group: r − mean, over the sample standard deviation of the group or
// of the batch, or over nothing. A completion without a reward (something
// other than the model failed) takes no part and gets advantage 0.
// [AdvantagesByCriterion] normalizes each criterion before they are added up.
//
// # Loss
//
// [ComputeLoss] gives the clipped policy loss of a batch of log-probabilities,
// its gradient, and the figures that trainers log: the divergence from the
// reference policy by three estimators, and the share of clipped ratios. The
// equations and their sources stand above each function.
//
// # Errors
//
// A caller's mistake is a [*toolgym/tools.Error] that says where it is and what
// would be right. A criterion that can not be worked out is never a reward of
// 0: the reward is null, and the reason is given.
package grpo
