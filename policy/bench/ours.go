//go:build unix

package main

import (
	"math/rand/v2"
	"time"

	"toolgym/internal/contest"
	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// ours is the update of this module.
type ours struct {
	learner *policy.Learner
	batch   *policy.Batch
	env     tools.Enumerator
	rng     *rand.Rand
	seeds   []uint64
	failed  error
}

func newOurs() (*ours, error) {
	c := policy.Default(policy.UpdateDocumented, policy.PoolBatch, arithmetic.NewEnumerator().Vocabulary())
	net, err := policy.NewNet(c, rand.NewPCG(0, 1))
	if err != nil {
		return nil, err
	}
	learner, err := policy.NewLearner(net)
	if err != nil {
		return nil, err
	}
	return &ours{
		learner: learner, batch: learner.NewBatch(), env: arithmetic.NewEnumerator(),
		rng: rand.New(rand.NewPCG(0, 2)), seeds: make([]uint64, c.Batch),
	}, nil
}

// turn makes n updates, and tells the CPU time of one.
func (o *ours) turn(n int) (time.Duration, error) {
	start, err := contest.CPU()
	if err != nil {
		return 0, err
	}
	for range n {
		if err := o.update(); err != nil {
			return 0, err
		}
	}
	end, err := contest.CPU()
	return (end - start) / time.Duration(n), err
}

// update draws tasks, samples and plays plans, and learns from them.
func (o *ours) update() error {
	for i := range o.seeds {
		o.seeds[i] = o.rng.Uint64()
		o.begin(i)
		p := &o.batch.Prompts[i]
		p.Context, p.Stage = o.env.Context(p.Context[:0]), 0
	}
	if err := o.learner.Sample(o.batch, o.rng); err != nil {
		return err
	}
	o.batch.Play(o.begin, o.env.Act)
	if o.failed != nil {
		return o.failed
	}
	_, err := o.learner.Update(o.batch)
	return err
}

func (o *ours) begin(i int) {
	if err := o.env.Start(tools.Documented, "0", o.seeds[i]); err != nil {
		o.failed = err
	}
}
