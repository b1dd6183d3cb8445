// Package nn is the GRU actor-critic of package policy: its parameters, its
// forward pass, the gradients of its layers, the losses of the update rules,
// and the optimizer, as functions over slices. A gorgonia graph chains the
// gradients.
//
// [Params] holds all weights in one slice, under PyTorch's names and shapes.
// [Forward] runs a batch step by step, so that each token can be chosen from the
// logits of the step before. [Recurrence] is the fused GRU; the product of its
// input weights is computed once per vocabulary entry ([Params.Table]) and
// looked up at each step. [Loss] computes an [Objective] and its gradients.
// [Graph] computes the gradient of all weights in one static gorgonia graph, and
// [Adam] makes a step along it.
//
// An update goes through the files in this order: forward.go (and gru.go,
// layers.go, softmax.go), graph.go, loss.go, adam.go.
//
// Layouts: the network stores a batch of B samples over T steps step by step: row
// t·B + b is sample b at step t. What belongs to episodes (log-probabilities,
// rewards) has a row for each, (B, T). Tokens are rows of the embedding; a
// negative token is padding, which leaves the state unchanged.
//
// All types are generic in the precision. Nothing here is safe for concurrent
// use, except reading parameters.
package nn
