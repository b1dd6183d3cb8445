package policy_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
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

// TestLogProbsAgreeWithPlans compares LogProbs with the probabilities and values of the plan
// itself.
func TestLogProbsAgreeWithPlans(t *testing.T) {
	for _, pool := range []string{policy.PoolOrdered, policy.PoolOwn, policy.PoolBatch} {
		t.Run(pool, func(t *testing.T) {
			net, err := policy.NewNet(policy.Default(policy.UpdateGRPO, pool, vocabulary()), rand.NewPCG(3, 1))
			if err != nil {
				t.Fatal(err)
			}
			prompts := []policy.Prompt{{Context: []int{4, 2, arithmetic.Ctx}}, {Context: []int{7, 1, 3, arithmetic.Ctx}, Stage: 1}}
			made, err := policy.NewActor(net).Plan(prompts, rand.New(rand.NewPCG(9, 9)))
			if err != nil {
				t.Fatal(err)
			}
			judged, err := policy.NewActor(net).LogProbs(prompts, [][]int{made[0].Tokens, made[1].Tokens[:3]})
			if err != nil {
				t.Fatal(err)
			}
			if len(judged[1].LogProbs) != 3 {
				t.Fatalf("%d numbers for a plan of 3 tokens", len(judged[1].LogProbs))
			}
			for b, j := range judged {
				for i, logp := range j.LogProbs {
					if math.Abs(math.Exp(logp)-made[b].Probs[i]) > 1e-6 || math.Abs(j.Values[i]-made[b].Values[i]) > 1e-6 {
						t.Errorf("plan %d, token %d: %v and %v, made with %v and %v", b, i, math.Exp(logp), j.Values[i], made[b].Probs[i], made[b].Values[i])
					}
					if token := made[b].Tokens[i]; token >= arithmetic.Mul && token <= arithmetic.Rcl && j.ToolMass[i] < math.Exp(logp)-1e-6 || j.ToolMass[i] > 1+1e-6 {
						t.Errorf("plan %d, token %d: the tools have %v, one of them %v", b, i, j.ToolMass[i], math.Exp(logp))
					}
				}
			}
		})
	}
}

func TestLogProbsErrors(t *testing.T) {
	net, err := policy.NewNet(policy.Default(policy.UpdateGRPO, policy.PoolOrdered, vocabulary()), rand.NewPCG(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	prompt := policy.Prompt{Context: []int{4, arithmetic.Ctx}}
	for name, c := range map[string]struct {
		prompts []policy.Prompt
		plans   [][]int
		want    string
	}{
		"a plan that is too long":      {[]policy.Prompt{prompt}, [][]int{slices.Repeat([]int{arithmetic.Add}, 9)}, "/plans/0: 9 tokens; expected at most 8"},
		"an unknown token":             {[]policy.Prompt{prompt}, [][]int{{arithmetic.Vocabulary}}, "/plans/0/0: unknown token 18"},
		"a prompt without a plan":      {[]policy.Prompt{prompt, prompt}, [][]int{{1}}, "one for each prompt"},
		"a prompt that it cannot read": {[]policy.Prompt{{Context: []int{1}, Stage: 99}}, [][]int{{1}}, "stage"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := policy.NewActor(net).LogProbs(c.prompts, c.plans); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if got, err := policy.NewActor(net).LogProbs(nil, nil); err != nil || got != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}
