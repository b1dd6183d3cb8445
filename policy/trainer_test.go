package policy_test

import (
	"math/rand/v2"
	"testing"

	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// trainer is what a training loop consists of.
type trainer struct {
	learner *policy.Learner
	batch   *policy.Batch
	env     tools.Enumerator
	rng     *rand.Rand
	seeds   []uint64
	level   string
	rules   string
}

func newTrainer(t testing.TB, c policy.Config, rules, level string, seed uint64) *trainer {
	t.Helper()
	net, err := policy.NewNet(c, rand.NewPCG(seed, 1))
	if err != nil {
		t.Fatal(err)
	}
	learner, err := policy.NewLearner(net)
	if err != nil {
		t.Fatal(err)
	}
	return &trainer{
		learner: learner, batch: learner.NewBatch(), env: arithmetic.NewEnumerator(),
		rng: rand.New(rand.NewPCG(seed, 2)), seeds: make([]uint64, c.Batch), level: level, rules: rules,
	}
}

// sample draws tasks and plans, and plays these.
func (tr *trainer) sample(t testing.TB) {
	t.Helper()
	for i := range tr.seeds {
		tr.seeds[i] = tr.rng.Uint64()
		tr.begin(i)
		p := &tr.batch.Prompts[i]
		p.Context, p.Stage = tr.env.Context(p.Context[:0]), int(tr.level[0]-'0')
	}
	if err := tr.learner.Sample(tr.batch, tr.rng); err != nil {
		t.Fatal(err)
	}
	tr.batch.Play(tr.begin, tr.env.Act)
}

func (tr *trainer) begin(i int) {
	if err := tr.env.Start(tr.rules, tr.level, tr.seeds[i]); err != nil {
		panic(err)
	}
}

func (tr *trainer) update(t testing.TB) policy.Metrics {
	t.Helper()
	tr.sample(t)
	m, err := tr.learner.Update(tr.batch)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// vocabulary is that of arithmetic.
func vocabulary() tools.Vocabulary { return arithmetic.NewEnumerator().Vocabulary() }
