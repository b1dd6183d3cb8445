package policy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolgym/policy"
	"toolgym/tools/arithmetic"
)

// TestJudgeAgreesWithPlan holds what Judge says of a plan to what the actor said
// when it made it.
func TestJudgeAgreesWithPlan(t *testing.T) {
	for _, pool := range []string{policy.PoolOrdered, policy.PoolOwn, policy.PoolBatch} {
		t.Run(pool, func(t *testing.T) {
			net, err := policy.NewNet(policy.Default(policy.UpdateGRPO, pool), rand.NewPCG(3, 1))
			if err != nil {
				t.Fatal(err)
			}
			prompts := []policy.Prompt{{Context: []int{4, 2, arithmetic.Ctx}}, {Context: []int{7, 1, 3, arithmetic.Ctx}, Stage: 1}}
			made, err := policy.NewActor(net).Plan(prompts, rand.New(rand.NewPCG(9, 9)))
			if err != nil {
				t.Fatal(err)
			}
			judged, err := policy.NewActor(net).Judge(prompts, [][]int{made[0].Tokens, made[1].Tokens[:3]})
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
					if token := made[b].Tokens[i]; token >= arithmetic.Mul && token <= arithmetic.Rcl && j.Tools[i] < math.Exp(logp)-1e-6 || j.Tools[i] > 1+1e-6 {
						t.Errorf("plan %d, token %d: the tools have %v, one of them %v", b, i, j.Tools[i], math.Exp(logp))
					}
				}
			}
		})
	}
}

func TestJudgeRefuses(t *testing.T) {
	net, err := policy.NewNet(policy.Default(policy.UpdateGRPO, policy.PoolOrdered), rand.NewPCG(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	prompt := policy.Prompt{Context: []int{4, arithmetic.Ctx}}
	for name, c := range map[string]struct {
		prompts []policy.Prompt
		plans   [][]int
		want    string
	}{
		"a plan that is too long":      {[]policy.Prompt{prompt}, [][]int{slices.Repeat([]int{arithmetic.Add}, 9)}, "/plans/0: 9 tokens; want at most 8"},
		"what is no token":             {[]policy.Prompt{prompt}, [][]int{{arithmetic.Vocabulary}}, "/plans/0/0: 18 is no token"},
		"a prompt without a plan":      {[]policy.Prompt{prompt, prompt}, [][]int{{1}}, "one for each prompt"},
		"a prompt that it cannot read": {[]policy.Prompt{{Context: []int{1}, Stage: 99}}, [][]int{{1}}, "stage"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := policy.NewActor(net).Judge(c.prompts, c.plans); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if got, err := policy.NewActor(net).Judge(nil, nil); err != nil || got != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}
