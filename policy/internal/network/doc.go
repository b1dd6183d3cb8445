// Package network is the GRU actor-critic in plain Go: its parameters, its
// forward pass, and the gradients of its layers, as functions over slices.
// Package graph puts them into gorgonia, which chains the gradients; package
// policy acts with the forward pass as it is.
//
// [Params] holds all weights in one slice under PyTorch's names and shapes.
// [Forward] runs a batch: contexts become first states, and a chosen token at
// each step becomes the next input. [Recurrence] is the fused GRU that both
// use; its input-to-hidden product is taken once for each entry of the
// vocabulary ([Params.Table]) and looked up at each step.
//
// Layouts: a batch of B samples over T steps is stored step by step, so that
// row t·B + b belongs to sample b at step t. Tokens are rows of the embedding;
// a negative token is padding: nothing enters and the state stays.
//
// Everything is generic in the precision. Nothing here is safe for concurrent
// use, except reading parameters.
package network
