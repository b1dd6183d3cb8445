package policy_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/tools"
)

// prompts draws tasks of a level.
func (tr *trainer) prompts(t testing.TB) []policy.Prompt {
	t.Helper()
	tr.sample(t)
	return tr.batch.Prompts
}

func TestPlansDoNotDependOnCompany(t *testing.T) {
	for _, pool := range []string{policy.PoolOwn, policy.PoolOrdered} {
		t.Run(pool, func(t *testing.T) {
			tr := newTrainer(t, small(policy.UpdateA2C, pool), tools.Sound, "2", 1)
			prompts := tr.prompts(t)
			actor := policy.NewActor(tr.learner.Net())
			together, err := actor.Plan(prompts, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range prompts {
				alone, err := actor.Plan(prompts[i:i+1], nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(together[i].Tokens, alone[0].Tokens); diff != "" {
					t.Errorf("prompt %d: together (-) and alone (+):\n%s", i, diff)
				}
			}
		})
	}
}

func TestBatchPoolMixesPrompts(t *testing.T) {
	tr := newTrainer(t, small(policy.UpdateDocumented, policy.PoolBatch), tools.Documented, "2", 1)
	plans, err := policy.NewActor(tr.learner.Net()).Plan(tr.prompts(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans[1:] {
		if diff := cmp.Diff(plans[0], p); diff != "" {
			t.Fatalf("no sample sees its own numbers, but plans differ:\n%s", diff)
		}
	}
}

func TestRefresh(t *testing.T) {
	tr := newTrainer(t, small(policy.UpdateA2C, policy.PoolOrdered), tools.Sound, "0", 1)
	prompts := tr.prompts(t)[:1]
	actor := policy.NewActor(tr.learner.Net())
	plan := func(a *policy.Actor) []policy.Plan {
		plans, err := a.Plan(prompts, nil)
		if err != nil {
			t.Fatal(err)
		}
		return plans
	}
	old := plan(actor)
	tr.train(t, 3)
	prompts = tr.prompts(t)[:1]
	actor.Refresh()
	fresh := plan(policy.NewActor(tr.learner.Net()))
	if diff := cmp.Diff(fresh, plan(actor)); diff != "" {
		t.Errorf("a new actor (-) and a refreshed one (+):\n%s", diff)
	}
	if cmp.Equal(old[0].Values, fresh[0].Values) {
		t.Error("three updates changed nothing")
	}
}

// TestSamplingFollowsProbabilities counts first tokens against the
// probabilities that the plans tell, by a chi-squared statistic.
func TestSamplingFollowsProbabilities(t *testing.T) {
	tr := newTrainer(t, small(policy.UpdateA2C, policy.PoolOwn), tools.Sound, "0", 3)
	prompt := tr.prompts(t)[0]
	const draws = 4000
	prompts := make([]policy.Prompt, draws)
	for i := range prompts {
		prompts[i] = prompt
	}
	plans, err := policy.NewActor(tr.learner.Net()).Plan(prompts, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	count, probs := map[int]float64{}, map[int]float64{}
	for _, p := range plans {
		count[p.Tokens[0]]++
		probs[p.Tokens[0]] = p.Probs[0]
	}
	total, squares := 0.0, 0.0
	for token, p := range probs {
		total += p
		off := count[token] - draws*p
		squares += off * off / (draws * p)
	}
	if math.Abs(total-1) > 1e-3 {
		t.Errorf("the probabilities of all %d tokens add up to %v", len(probs), total)
	}
	if squares > 50 { // 17 degrees of freedom: less than 1 in 20,000
		t.Errorf("chi-squared is %v", squares)
	}
}

func TestPlanNothing(t *testing.T) {
	tr := newTrainer(t, small(policy.UpdateA2C, policy.PoolOwn), tools.Sound, "0", 3)
	plans, err := policy.NewActor(tr.learner.Net()).Plan(nil, nil)
	if len(plans) != 0 || err != nil {
		t.Errorf("got %v, %v", plans, err)
	}
	_, err = policy.NewActor(tr.learner.Net()).Plan([]policy.Prompt{{Context: []int{99}}}, nil)
	if _, refused := errors.AsType[*tools.Error](err); !refused {
		t.Errorf("an unknown token: got %v", err)
	}
}
