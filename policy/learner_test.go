package policy_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// small is a configuration that trains in moments.
func small(update, pool string) policy.Config {
	c := policy.Default(update, pool, vocabulary())
	c.Hidden, c.Batch = 16, 24
	return c
}

// rulesOf are the rules that an update is meant for.
func rulesOf(update string) string {
	if update == policy.UpdateDocumented {
		return tools.Documented
	}
	return tools.Sound
}

// relate makes the rewards into advantages, as if the batch were one group.
func (tr *trainer) relate() {
	mean := 0.0
	for i, row := range tr.batch.Rewards {
		tr.batch.Advantages[i] = 0
		for _, r := range row {
			tr.batch.Advantages[i] += r
		}
		mean += tr.batch.Advantages[i] / float64(len(tr.batch.Rewards))
	}
	for i := range tr.batch.Advantages {
		tr.batch.Advantages[i] -= mean
	}
}

// train makes n updates and returns their metrics.
func (tr *trainer) train(t testing.TB, n int) []policy.Metrics {
	t.Helper()
	var all []policy.Metrics
	for range n {
		tr.sample(t)
		tr.relate()
		m, err := tr.learner.Update(tr.batch)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func updates() []string {
	return []string{policy.UpdateDocumented, policy.UpdateA2C, policy.UpdateGRPO}
}

// TestLearnersDoNotDisturbEachOther trains alone, and at once with others.
func TestLearnersDoNotDisturbEachOther(t *testing.T) {
	run := func(update string) []policy.Metrics {
		return newTrainer(t, small(update, policy.PoolOrdered), rulesOf(update), "1", 5).train(t, 5)
	}
	together := make([][]policy.Metrics, 3)
	var group sync.WaitGroup
	for i, update := range updates() {
		group.Go(func() { together[i] = run(update) })
	}
	group.Wait()
	for i, update := range updates() {
		t.Run(update, func(t *testing.T) {
			if diff := cmp.Diff(run(update), together[i]); diff != "" {
				t.Errorf("alone (-) and together (+):\n%s", diff)
			}
		})
	}
}

// TestForcedEqualsSampled updates twice from one sample: the learner that
// sampled, and one that is told the plans.
func TestForcedEqualsSampled(t *testing.T) {
	for _, update := range updates() {
		for _, pool := range []string{policy.PoolBatch, policy.PoolOwn, policy.PoolOrdered} {
			t.Run(update+"/"+pool, func(t *testing.T) {
				sampling := newTrainer(t, small(update, pool), rulesOf(update), "2", 6)
				told := newTrainer(t, small(update, pool), rulesOf(update), "2", 6)
				sampling.sample(t)
				sampling.relate()
				copyBatch(told.batch, sampling.batch)
				for i := range 3 {
					want, err := sampling.learner.Update(sampling.batch)
					if err != nil {
						t.Fatal(err)
					}
					got, err := told.learner.Update(told.batch)
					if err != nil {
						t.Fatal(err)
					}
					if off := math.Abs(got.Loss-want.Loss) + math.Abs(got.GradNorm-want.GradNorm); off > 1e-4 {
						t.Errorf("update %d: told %+v, sampled %+v", i, got, want)
					}
				}
			})
		}
	}
}

func copyBatch(dst, src *policy.Batch) {
	for i := range src.Plans {
		dst.Prompts[i] = policy.Prompt{Context: slices.Clone(src.Prompts[i].Context), Stage: src.Prompts[i].Stage}
		copy(dst.Plans[i], src.Plans[i])
		copy(dst.Rewards[i], src.Rewards[i])
	}
	copy(dst.Lengths, src.Lengths)
	copy(dst.Advantages, src.Advantages)
}

func TestLearning(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			c := small(update, policy.PoolOwn)
			c.Hidden, c.Batch, c.LearningRate = 32, 64, 3e-3
			metrics := newTrainer(t, c, rulesOf(update), "0", 1).train(t, 150)
			first, last := mean(metrics[:10]), mean(metrics[140:])
			if last < first+0.3 {
				t.Errorf("mean reward went from %.3f to %.3f", first, last)
			}
		})
	}
}

func mean(metrics []policy.Metrics) float64 {
	sum := 0.0
	for _, m := range metrics {
		sum += m.Reward / float64(len(metrics))
	}
	return sum
}

func TestUpdateAllocatesLittle(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			c := policy.Default(update, policy.PoolOrdered, vocabulary())
			c.Hidden = 16 // the batch is the default: allocations may grow with it
			tr := newTrainer(t, c, rulesOf(update), "0", 1)
			if got := testing.AllocsPerRun(3, func() { tr.train(t, 1) }); got > 3000 {
				t.Errorf("%v allocations an update, at most 3000", got)
			}
		})
	}
}

func TestMemoryIsFlat(t *testing.T) {
	c := small(policy.UpdateGRPO, policy.PoolOrdered)
	c.Hidden, c.Batch = 8, 8
	tr := newTrainer(t, c, tools.Sound, "2", 1)
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	tr.train(t, 20)
	before := heap()
	for range 500 {
		tr.train(t, 1)
	}
	if after := heap(); after > before+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes in 500 updates", before, after)
	}
	runtime.KeepAlive(tr)
}

// TestLearnersAreCollected makes learners one after another, as a server does.
func TestLearnersAreCollected(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			var collected atomic.Int32
			const made = 8
			for range made {
				tr := newTrainer(t, small(update, policy.PoolOrdered), rulesOf(update), "1", 1)
				tr.train(t, 2)
				runtime.AddCleanup(tr.learner, func(n int32) { collected.Add(n) }, 1)
			}
			for range 100 { // finalizers and cleanups take some rounds
				if collected.Load() >= made/2 {
					return
				}
				runtime.GC()
				runtime.Gosched()
			}
			t.Errorf("%d of %d learners are collected", collected.Load(), made)
		})
	}
}

func TestDivergence(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			c := small(update, policy.PoolOwn)
			c.LearningRate = 1e38 // the second step overflows
			tr := newTrainer(t, c, rulesOf(update), "0", 1)
			for i := 1; i < 10; i++ {
				tr.sample(t)
				tr.relate()
				_, err := tr.learner.Update(tr.batch)
				if diverged, ok := errors.AsType[*policy.DivergedError](err); ok {
					if diverged.Update != i || tr.learner.Updates() != i-1 {
						t.Errorf("update %d of %d made says %d", i, tr.learner.Updates(), diverged.Update)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Error("nothing diverged")
		})
	}
}

func TestUpdateRefusesBatches(t *testing.T) {
	cases := map[string]struct {
		spoil func(b *policy.Batch)
		where string
	}{
		"a row too few":         {func(b *policy.Batch) { b.Plans = b.Plans[1:] }, "plans"},
		"a short plan":          {func(b *policy.Batch) { b.Plans[3] = b.Plans[3][1:] }, "plans/3"},
		"an unknown token":      {func(b *policy.Batch) { b.Plans[2][1] = arithmetic.Vocabulary }, "plans/2/1"},
		"a negative token":      {func(b *policy.Batch) { b.Plans[2][1] = -1 }, "plans/2/1"},
		"length zero":           {func(b *policy.Batch) { b.Lengths[4] = 0 }, "lengths/4"},
		"a length too long":     {func(b *policy.Batch) { b.Lengths[4] = 9 }, "lengths/4"},
		"a reward that is NaN":  {func(b *policy.Batch) { b.Rewards[1][0] = math.NaN() }, "rewards/1/0"},
		"an advantage too many": {func(b *policy.Batch) { b.Advantages = append(b.Advantages, 0) }, "advantages"},
		"an advantage of NaN":   {func(b *policy.Batch) { b.Advantages[1] = math.NaN() }, "advantages/1"},
		"an unknown stage":      {func(b *policy.Batch) { b.Plans[0][0] ^= 1; b.Prompts[5].Stage = 7 }, "/5/stage"},
		"a long context":        {func(b *policy.Batch) { b.Plans[0][0] ^= 1; b.Prompts[5].Context = make([]int, 11) }, "/5/context"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tr := newTrainer(t, small(policy.UpdateGRPO, policy.PoolOwn), tools.Sound, "0", 1)
			tr.sample(t)
			c.spoil(tr.batch)
			_, err := tr.learner.Update(tr.batch)
			var refused *tools.Error
			if !errors.As(err, &refused) || refused.Code != tools.Invalid || refused.Where != c.where {
				t.Errorf("got %v, want an error at %s", err, c.where)
			}
		})
	}
}

func TestSampleRefusesPrompts(t *testing.T) {
	for name, p := range map[string]policy.Prompt{
		"an unknown stage":   {Context: []int{1, 10}, Stage: 5},
		"a negative stage":   {Context: []int{1, 10}, Stage: -1},
		"an empty context":   {},
		"an unknown token":   {Context: []int{18}},
		"a negative token":   {Context: []int{-1}},
		"too long a context": {Context: make([]int, 11)},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrainer(t, small(policy.UpdateA2C, policy.PoolOrdered), tools.Sound, "0", 1)
			tr.sample(t)
			tr.batch.Prompts[0] = p
			err := tr.learner.Sample(tr.batch, rand.New(rand.NewPCG(1, 1)))
			var refused *tools.Error
			if !errors.As(err, &refused) || refused.Code != tools.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	for _, compare := range []bool{false, true} {
		t.Run(fmt.Sprint("compare ", compare), func(t *testing.T) {
			c := small(policy.UpdateA2C, policy.PoolOrdered)
			c.Compare = compare
			all := newTrainer(t, c, tools.Sound, "0", 1).train(t, 30)
			first, last := all[0], all[29]
			if last.Update != 30 || last.ToolMass <= 0 || last.ToolMass >= 1 || last.CallProb <= 0 || last.Entropy <= 0 || last.GradNorm <= 0 {
				t.Errorf("impossible figures: %+v", last)
			}
			if (last.KL != nil) != compare || (last.StartCallProb != nil) != compare || last.ClipLow != nil {
				t.Errorf("figures that were not asked for, or missing ones: %+v", last)
			}
			if compare && (math.Abs(*first.KL) > 1e-9 || *last.KL <= 0 || math.Abs(*first.StartCallProb-first.CallProb) > 1e-6) {
				t.Errorf("the first update is by the starting policy, the last is not: %v, %v", *first.KL, *last.KL)
			}
		})
	}
}
