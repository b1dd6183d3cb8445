// Package graph puts package network into gorgonia: one static graph for a size
// of batch, whose machine and buffers are used again at every run.
//
// gorgonia chains the gradients. What it would do slowly, or in many small
// nodes, is fused into one node each: linear layers, means of embeddings, the
// whole GRU over all steps, and the loss. A fused node calls the plain functions
// of packages network and update on the values of its inputs, and one more node gives the
// gradients of all its inputs at once, which further nodes cut apart.
//
//	h₀ = tanh(bag(emb, contexts) + bag(stage_emb, stages))    or the context's GRU in place of the first bag
//	h  = gru(h₀, linear(emb, rnn.weight_ih, rnn.bias_ih), rnn.weight_hh, rnn.bias_hh)
//	loss = loss(linear(h, pi), linear(h, v))
//
// Tokens, stages and what happened in the episodes are not nodes: they are read
// from the [network.Forward] and the [update.Loss] of the graph when it runs.
//
// gorgonia's global settings are not touched (gorgonia.Use would change the
// matrix product of the whole process): fused nodes get their arithmetic handed
// in, so that graphs do not disturb each other.
package graph
