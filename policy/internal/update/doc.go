// Package update is what turns a batch of episodes into a step of the weights,
// as functions over slices: the losses of the update rules with their gradients
// by logits and values, and the optimizer.
//
// [Loss] computes an [Objective]: the published actor-critic, the sound one
// (masked after the end, advantages step by step), or a [Surrogate] that is
// handed in and scores whole episodes against each other. [Adam] makes a step
// along a gradient whose norm is limited.
//
// Layouts are those of package network: row t·B + b belongs to sample b of B at
// step t.
package update
