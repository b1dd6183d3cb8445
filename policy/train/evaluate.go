package train

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// chunk is the number of tasks planned at once, except with the pool batch.
const chunk = 200

// evaluator plays greedy plans.
type evaluator struct {
	player  *player
	actor   *policy.Actor
	prompts []policy.Prompt
	seeds   []uint64
}

func newEvaluator(p *player, net *policy.Net) *evaluator {
	return &evaluator{player: p, actor: policy.NewActor(net)}
}

// evaluate plays n fresh tasks of each level, drawn from a stream of the seed.
func (e *evaluator) evaluate(n int, seed, stream uint64) ([]telemetry.StageResult, error) {
	e.actor.Refresh()
	rng := rand.New(rand.NewPCG(seed, stream))
	standings := make([]telemetry.StageResult, len(e.player.config.Levels))
	for i, level := range e.player.config.Levels {
		s, err := e.level(level, n, rng)
		if err != nil {
			return nil, err
		}
		standings[i] = s
	}
	return standings, nil
}

// level evaluates one level. The pool batch reads all tasks at once, as published.
func (e *evaluator) level(level string, n int, rng *rand.Rand) (telemetry.StageResult, error) {
	s := telemetry.StageResult{Stage: level, Tasks: n}
	plans := map[string]int{}
	for left := n; left > 0; {
		size := min(left, chunk)
		if e.player.config.Network.Pool == policy.PoolBatch {
			size = left
		}
		if err := e.part(level, size, rng, &s, plans); err != nil {
			return s, err
		}
		left -= size
	}
	for _, sum := range []*float64{&s.Reward, &s.Success, &s.Steps, &s.Optimal} {
		*sum /= float64(n)
	}
	for plan, count := range plans {
		if best := plans[s.Plan]; count > best || count == best && plan < s.Plan {
			s.Plan = plan
		}
	}
	return s, nil
}

// part plays n tasks and adds to the sums in s.
func (e *evaluator) part(level string, n int, rng *rand.Rand, s *telemetry.StageResult, found map[string]int) error {
	for len(e.prompts) < n {
		e.prompts, e.seeds = append(e.prompts, policy.Prompt{}), append(e.seeds, 0)
	}
	for i := range n {
		seed, err := e.player.draw(level, forEvaluation, rng, &e.prompts[i])
		if err != nil {
			return err
		}
		e.seeds[i] = seed
	}
	plans, err := e.actor.Plan(e.prompts[:n], nil)
	if err != nil {
		return err
	}
	for i, plan := range plans {
		if err := e.player.start(level, e.seeds[i], &e.prompts[i]); err != nil {
			return err
		}
		task, err := e.player.spec.Task(e.player.config.Rules, level, e.seeds[i])
		if err != nil {
			return err
		}
		s.Optimal += float64(task.Optimal)
		o := play(e.player.env, plan.Tokens)
		s.Reward += o.reward
		s.Steps += float64(o.length)
		if o.success {
			s.Success++
		}
		found[strings.Join(tools.TokenTexts(e.player.env, plan.Tokens[:o.length]), " ")]++
	}
	return nil
}

// Explanation is what a policy makes of a task, token by token.
type Explanation struct {
	Task    string    `json:"task"`
	Stage   int       `json:"stage"`
	Context []string  `json:"context"`
	Target  string    `json:"target,omitempty"`  // the answer that is rewarded, where there is one
	Optimal int       `json:"optimal,omitempty"` // calls of a shortest solution, where it is known
	Plan    []string  `json:"plan"`              // the tokens that were played
	Probs   []float64 `json:"probs"`             // of each token, given those before it
	Values  []float64 `json:"values"`            // what the critic expects at each
	Reward  float64   `json:"reward"`
	Success bool      `json:"success"`
}

// targeted is an Enumerator whose tasks ask for a number.
type targeted interface{ Target() int }

// Explain plans and plays n tasks of a level greedily, those of the seeds from
// seed on. The pool batch sees all of them at once. What the network cannot
// read is an [*tools.Error].
func Explain(net *policy.Net, spec tools.Spec, rules, level string, seed uint64, n int) ([]Explanation, error) {
	if n < 1 {
		return nil, refusal.New("n", "at least 1", "%d tasks", n)
	}
	if spec.Enumerate == nil {
		return nil, refusal.New("env", "an environment with plans, such as arithmetic or gridworld", "%s has no plans", spec.Name)
	}
	env, prompts := spec.Enumerate(), make([]policy.Prompt, n)
	for i := range prompts {
		if err := env.Start(rules, level, seed+uint64(i)); err != nil {
			return nil, err
		}
		if err := prompts[i].Read(env, level); err != nil {
			return nil, err
		}
	}
	plans, err := policy.NewActor(net).Plan(prompts, nil)
	if err != nil {
		return nil, err
	}
	list := make([]Explanation, n)
	for i, plan := range plans {
		task, err := spec.Task(rules, level, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		if list[i], err = explain(env, task, prompts[i], plan); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// explain plays one plan.
func explain(env tools.Enumerator, task tools.Task, prompt policy.Prompt, plan policy.Plan) (Explanation, error) {
	if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return Explanation{}, err
	}
	e := Explanation{Task: task.ID, Stage: prompt.Stage, Context: tools.TokenTexts(env, prompt.Context), Optimal: task.Optimal}
	if t, ok := env.(targeted); ok {
		e.Target = strconv.Itoa(t.Target())
	}
	o := play(env, plan.Tokens)
	e.Plan, e.Probs, e.Values = tools.TokenTexts(env, plan.Tokens[:o.length]), plan.Probs[:o.length], plan.Values[:o.length]
	e.Reward, e.Success = o.reward, o.success
	return e, nil
}
