package policy_test

import (
	"testing"

	"toolgym/policy"
	"toolgym/tools"
)

func BenchmarkUpdate(b *testing.B) {
	cases := map[string]policy.Config{
		"documented": policy.Default(policy.UpdateDocumented, policy.PoolBatch, vocabulary()),
		"a2c":        policy.Default(policy.UpdateA2C, policy.PoolOrdered, vocabulary()),
		"grpo":       policy.Default(policy.UpdateGRPO, policy.PoolOrdered, vocabulary()),
	}
	for name, c := range cases {
		b.Run(name, func(b *testing.B) {
			rules := tools.Sound
			if name == "documented" {
				rules = tools.Documented
			}
			tr := newTrainer(b, c, rules, "0", 1)
			b.ReportAllocs()
			for b.Loop() {
				tr.update(b)
			}
		})
	}
}

func BenchmarkActOnOneTask(b *testing.B) {
	for _, pool := range []string{policy.PoolOwn, policy.PoolOrdered} {
		b.Run(pool, func(b *testing.B) {
			tr := newTrainer(b, policy.Default(policy.UpdateA2C, pool, vocabulary()), tools.Sound, "2", 1)
			tr.sample(b)
			actor := policy.NewActor(tr.learner.Net())
			for b.Loop() {
				if _, err := actor.Plan(tr.batch.Prompts[:1], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
