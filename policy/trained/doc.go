// Package trained holds policies that are trained already, so that a demo, a
// game or an evaluation has one at hand: GRUs of under 300 kB, one for each
// environment.
//
//	agent, err := trained.Agent(arithmetic.Spec())
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//
// [Player] is all of them as one agent, and knows what they were trained on.
//
// They are made by "go generate ./policy/trained", which trains them anew from
// fixed seeds (about ten seconds) and keeps what it needs to act: weights and
// configuration, without optimizer and random source. The arithmetic one knows
// the stages 0 to 3 of the sound rules, the gridworld one level 0.
package trained

//go:generate go run ./gen
