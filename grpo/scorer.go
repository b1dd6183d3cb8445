package grpo

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Scorer scores groups of completions. It is safe for concurrent use, and the
// same request gives the same answer.
type Scorer struct {
	envs   tools.Specs
	tariff *tariff

	toolsets toolsets
}

// NewScorer makes a scorer that pays by the rubric, and that finds the tasks of
// requests among the environments.
func NewScorer(envs tools.Specs, rubric Rubric) (*Scorer, error) {
	t, err := rubric.compile()
	if err != nil {
		return nil, err
	}
	return &Scorer{envs: envs, tariff: t}, nil
}

// Score scores every completion of every group. The error is the caller's, a
// [*tools.Error] with a JSON pointer into the request, or the context's; what
// is wrong with one completion is that completion's failure.
func (s *Scorer) Score(ctx context.Context, r Request) (Response, error) {
	return s.score(ctx, r, nil)
}

func (s *Scorer) score(ctx context.Context, r Request, charge Charge) (Response, error) {
	if err := r.Validate(); err != nil {
		return Response{}, err
	}
	plan, err := s.plan(r)
	if err != nil {
		return Response{}, err
	}
	plan.charge = charge
	response := Response{Groups: make([]GroupScore, len(r.Groups))}
	if err := plan.scores(ctx, r.Groups, response.Groups); err != nil {
		return Response{}, err
	}
	tally, err := newTally(plan)
	if err != nil {
		return Response{}, err
	}
	var counting sync.WaitGroup // scores are counted while advantages are worked out: neither needs the other
	var countErr error
	goroutine.Go(&counting, func() { tally.addScores(r.Groups, response.Groups) }, func(err error) { countErr = err })
	err = plan.advantages(ctx, response.Groups)
	counting.Wait()
	if err = cmp.Or(err, countErr); err != nil {
		return Response{}, err
	}
	if err := tally.addAdvantages(r.Groups, response.Groups); err != nil {
		return Response{}, err
	}
	response.Metrics, err = tally.metrics()
	return response, err
}

// A plan is how one request is to be scored.
type plan struct {
	scorer        *Scorer
	tariff        *tariff
	normalization objective.Normalization
	aggregation   objective.Aggregation
	loss          objective.Config
	charge        Charge // nil where memory is not bounded
}

// plan puts the scorer's own settings in for what the request leaves out.
func (s *Scorer) plan(r Request) (*plan, error) {
	p := &plan{
		scorer: s, tariff: s.tariff, loss: objective.Default(),
		normalization: r.Normalization, aggregation: r.Aggregation,
	}
	if r.Rubric != nil {
		t, err := r.Rubric.compile()
		if err != nil {
			return nil, refusal.Below("/rubric", err)
		}
		p.tariff = t
	}
	if r.Loss != nil {
		p.loss = *r.Loss
	}
	if p.normalization == "" {
		p.normalization = objective.NormalizeGroup
	}
	if p.aggregation == "" {
		p.aggregation = objective.SumThenNormalize
	}
	return p, nil
}

// scores judges and pays the completions of all groups, on all cores.
func (p *plan) scores(ctx context.Context, groups []Group, scored []GroupScore) error {
	tasks, first := make([]*task, len(groups)), firstAlike(groups)
	err := inParallel(ctx, len(groups), func() work {
		return func(i int) (err error) {
			scored[i] = p.room(&groups[i])
			if first[i] < i {
				return nil
			}
			if tasks[i], err = p.scorer.task(ctx, &groups[i]); err != nil {
				return refusal.Below(fmt.Sprintf("/groups/%d", i), err)
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	var number int
	for i := range groups {
		number += len(groups[i].Completions)
	}
	jobs := make([]job, 0, number)
	for i := range groups {
		for j := range groups[i].Completions {
			jobs = append(jobs, job{i, j})
		}
	}
	return inParallel(ctx, len(jobs), func() work {
		g := &grader{by: p.tariff}
		return func(n int) error {
			i, j := jobs[n].group, jobs[n].completion
			score := &scored[i].Completions[j]
			if err := g.judge(ctx, tasks[first[i]], &groups[i].Completions[j], score); err != nil {
				return refusal.Below(fmt.Sprintf("/groups/%d/completions/%d", i, j), err)
			}
			if p.charge == nil {
				return nil
			}
			return p.charge(score.weight())
		}
	})
}

// firstAlike finds, for each group, the first one that has the very same task: a
// task is made ready once for all of them.
func firstAlike(groups []Group) []int {
	type key struct {
		id       string
		tools    *tools.Tool
		number   int
		expected *match.Expected
	}
	seen, first := make(map[key]int, len(groups)), make([]int, len(groups))
	for i := range groups {
		g := &groups[i]
		k := key{id: g.TaskID, number: len(g.Tools), expected: g.Expected}
		if k.number > 0 {
			k.tools = &g.Tools[0]
		}
		if _, ok := seen[k]; !ok {
			seen[k] = i
		}
		first[i] = seen[k]
	}
	return first
}

// room makes the memory for the scores of a group.
func (p *plan) room(g *Group) GroupScore {
	n, k := len(g.Completions), len(p.tariff.clauses)
	scored := GroupScore{ID: g.ID, Completions: make([]Score, n)}
	values, calls := make([]float64, n*k), make([]Call, n)
	for j := range n {
		scored.Completions[j].Criteria = p.tariff.heading.blank(values[j*k : (j+1)*k : (j+1)*k])
		scored.Completions[j].Calls = calls[j : j : j+1] // most make one
	}
	return scored
}

// job is one completion of one group.
type job struct{ group, completion int }

// task makes the group's task ready.
func (s *Scorer) task(ctx context.Context, g *Group) (*task, error) {
	if g.TaskID != "" {
		return s.playedTask(g.TaskID)
	}
	return expectedTask(ctx, s.toolsets.of(g.Tools), *g.Expected)
}

// advantages fills in the spread of each group and the advantage of each
// completion.
func (p *plan) advantages(ctx context.Context, groups []GroupScore) error {
	y := p.payments()
	for range groups {
		y.open()
	}
	err := inParallel(ctx, len(groups), func() work {
		return func(i int) error {
			for j := range groups[i].Completions {
				y.add(i, &groups[i].Completions[j])
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	advantages, spreads, err := y.advantages()
	if err != nil {
		return refusal.Move("/groups", err)
	}
	return inParallel(ctx, len(groups), func() work {
		return func(i int) error {
			groups[i].Spread = spreads[i]
			for j := range groups[i].Completions {
				groups[i].Completions[j].Advantage = advantages[i][j]
			}
			return nil
		}
	})
}
