package train

import (
	"math/rand/v2"
	"strings"

	"toolgym/policy"
	"toolgym/policy/telemetry"
)

// chunk is how many tasks are planned at once, where the pool allows it.
const chunk = 200

// evaluator plays greedily.
type evaluator struct {
	player  *player
	actor   *policy.Actor
	prompts []policy.Prompt
	seeds   []uint64
}

func newEvaluator(p *player, net *policy.Net) *evaluator {
	return &evaluator{player: p, actor: policy.NewActor(net)}
}

// evaluate plays n fresh tasks of each level. The stream separates evaluations
// of one run.
func (e *evaluator) evaluate(n int, seed, stream uint64) ([]telemetry.Standing, error) {
	e.actor.Refresh()
	rng := rand.New(rand.NewPCG(seed, stream))
	standings := make([]telemetry.Standing, len(e.player.config.Levels))
	for i, level := range e.player.config.Levels {
		s, err := e.level(level, n, rng)
		if err != nil {
			return nil, err
		}
		standings[i] = s
	}
	return standings, nil
}

// level evaluates one. The pool batch sees all tasks at once, as published.
func (e *evaluator) level(level string, n int, rng *rand.Rand) (telemetry.Standing, error) {
	s := telemetry.Standing{Stage: level, Tasks: n}
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

// part plays some tasks and adds them up.
func (e *evaluator) part(level string, n int, rng *rand.Rand, s *telemetry.Standing, found map[string]int) error {
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
		found[strings.Join(texts(plan.Tokens[:o.length]), " ")]++
	}
	return nil
}
