// Package trained holds policies that are trained already, so that a demo, a
// game or an evaluation has one at hand: GRUs of under 500 kB, all under the
// sound rules.
//
//	agent, err := trained.Agent(gridworld.Spec())
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//
// [Load] has the network of one level; [Player] is all of them as one agent, and
// knows what they were trained on.
//
//	files        levels          weights  trained by            CPU     success, greedy
//	arithmetic   stages 0 to 3   52,627   GRPO, 850 updates     5 s     100 % of 1,000 tasks each
//	gridworld-0  level 0         14,035   A2C, 1,100 updates    5 s     its one layout, in 10 calls
//	gridworld-1  level 1        115,795   A2C, 8,200 updates    176 s   99.8 % of 1,000 held out layouts
//
// Stage 4 of arithmetic, its levels large, grounded and restraint, the
// gridworld's levels from 2 on and the environment research have none: train one
// by toolgym train.
//
// Layouts of level 1 are drawn, and a plan is made in advance, so that a layout
// may be one that the policy fails on: 2 of the first 1,000 that were held out
// are, and 5 of the first 1,000 seeds, the first of them 13 ("go test
// ./policy/trained -run Layouts -v"). Where it succeeds, it needs 14.3 calls in the
// mean where the shortest solutions have 12.0. A tenth of the layouts was left out
// of its training; [train.Config.HeldOut] tells which.
//
// They are made by "go generate ./policy/trained", which trains them anew from
// fixed seeds and keeps what it needs to act: weights and configuration, without
// optimizer and random source. "go run ./gen gridworld-1", in this folder, trains
// one alone. On one machine the same seed gives the same bits; another processor
// rounds differently, and comes to other weights.
package trained

//go:generate go run ./gen
