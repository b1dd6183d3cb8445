// Package trained embeds trained policies for demos, games and evaluations: GRUs of
// under 500 kB, trained under the sound rules.
//
//	agent, err := trained.Agent(gridworld.Spec())
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//
// [Load] returns the network of one level; [Player] is one agent for all of them.
//
//	files        levels          weights  trained by            CPU     success, greedy
//	arithmetic   stages 0 to 3   52,627   GRPO, 850 updates     5 s     100 % of 1,000 tasks each
//	gridworld-0  level 0         14,035   A2C, 1,100 updates    5 s     its only layout, in 10 calls
//	gridworld-1  level 1        115,795   A2C, 8,200 updates    176 s   99.8 % of 1,000 held-out layouts
//
// Stage 4 of arithmetic, its levels large, grounded and restraint, the levels of
// gridworld from 2 up, and research have none; toolgym train trains one.
//
// The layouts of level 1 are drawn, and a plan is made in advance, so that the policy
// fails on some: on 2 of the first 1,000 held-out layouts, and on 5 of the first 1,000
// seeds, the first of them 13 ("go test ./policy/trained -run Layouts -v"). Where it
// succeeds, it needs 14.3 calls on average; the shortest solutions have 12.0. A tenth of
// the layouts was left out of its training; see [train.Config.HeldOut].
//
// "go generate ./policy/trained" trains all of them from fixed seeds and saves weights
// and configuration, without optimizer and random source. "go run ./gen gridworld-1" in
// this folder trains one. On one machine the same seed gives the same bits; another
// processor rounds differently and gives other weights.
package trained

//go:generate go run ./gen
