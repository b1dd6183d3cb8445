package evaluation

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

// source feeds the bootstraps of a report. It is fixed, so that a report of the
// same trials is always the same.
func source() rand.Source { return rand.NewPCG(0x746f6f6c, 0x67796d) }

// Summary is what a run's trials amount to; of a run over several routes, those
// of the first.
func (r Room) Summary(ctx context.Context, name string) (eval.Summary, error) {
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return eval.Summary{}, err
	}
	trials, err := r.leading(ctx, run)
	if err != nil {
		return eval.Summary{}, err
	}
	s := eval.Summarize(trials, source())
	s.Run, s.Model = run.Name, run.Model
	return s, nil
}

// leading are the trials of a run's first route.
func (r Room) leading(ctx context.Context, run eval.Run) ([]eval.Trial, error) {
	trials, err := r.Store.Trials(ctx, run.Name)
	if err != nil {
		return nil, err
	}
	var list []eval.Trial
	for _, t := range trials {
		if t.Route == run.Routes[0] {
			list = append(list, t)
		}
	}
	return list, nil
}

// Compare says whether the second of two runs passes more often.
func (r Room) Compare(ctx context.Context, first, second string) (eval.Comparison, error) {
	var pair [2][]eval.Trial
	for i, name := range []string{first, second} {
		run, err := r.Store.Run(ctx, name)
		if err != nil {
			return eval.Comparison{}, err
		}
		if pair[i], err = r.leading(ctx, run); err != nil {
			return eval.Comparison{}, err
		}
	}
	return eval.Compare(pair[0], pair[1], source())
}

// Report makes the report of a run, with what agents without a language model
// make of the same tasks. They are left out where the tasks are no longer what
// they were when the run began.
func (r Room) Report(ctx context.Context, name string) (report.Report, error) {
	run, records, err := r.kept(ctx, name)
	if err != nil {
		return report.Report{}, err
	}
	return r.report(ctx, run, records)
}

// kept is a run with all that is kept of it.
func (r Room) kept(ctx context.Context, name string) (eval.Run, []eval.Record, error) {
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return run, nil, err
	}
	records, err := r.Store.Records(ctx, name, "")
	return run, records, err
}

func (r Room) report(ctx context.Context, run eval.Run, records []eval.Record) (report.Report, error) {
	references, err := r.references(ctx, run)
	if err != nil {
		return report.Report{}, err
	}
	return report.New(run, records, references, source())
}

// items makes a run's tasks again.
func (r Room) items(run eval.Run) ([]eval.Item, error) {
	items := make([]eval.Item, len(run.Tasks))
	for i, task := range run.Tasks {
		item, err := eval.Restore(r.Specs, task)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

// references plays the baselines: as often as the model, so that the pairs are
// fair.
func (r Room) references(ctx context.Context, run eval.Run) ([]report.Agent, error) {
	items, err := r.items(run)
	if _, changed := errors.AsType[*tools.Error](err); changed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	scorer, err := r.scorer()
	if err != nil {
		return nil, err
	}
	list, err := r.baselines()
	if err != nil {
		return nil, err
	}
	var agents []report.Agent
	for _, b := range list {
		trials, err := b.Trials(ctx, items, run.Trials, scorer)
		if err != nil {
			return nil, err
		}
		agent := report.Agent{Name: b.Name, Trials: trials, LeftOut: leftOut(items, trials)}
		if len(agent.LeftOut) > 0 {
			agent.Reason = b.Reason
		}
		agents = append(agents, agent)
	}
	return agents, nil
}

// baselines are agents for one report: the policy's networks are not for two at
// a time.
func (r Room) baselines() ([]eval.Baseline, error) {
	policy, err := trained.NewPlayer(r.Specs)
	if err != nil {
		return nil, err
	}
	return []eval.Baseline{
		{Name: "does nothing", New: func(int) tools.Agent { return baseline.Idle() }},
		{Name: "calls at random", New: func(seed int) tools.Agent { return baseline.Random(rand.NewPCG(uint64(seed), 0)) }},
		{Name: "oracle", Reason: "no solution is written down there"},
		{
			Name: "trained policy", Reason: "no policy is trained there",
			New:   func(int) tools.Agent { return policy },
			Plays: func(item eval.Item) bool { return item.Expected == nil && policy.Knows(item.Task) },
		},
	}, nil
}

// leftOut names the levels that have items without a trial.
func leftOut(items []eval.Item, trials []eval.Trial) []string {
	played := map[string]bool{}
	for _, t := range trials {
		played[t.Task] = true
	}
	list := []string{}
	for _, item := range items {
		if level := item.Task.Env + "/" + item.Task.Level; !played[item.Task.ID] && !slices.Contains(list, level) {
			list = append(list, level)
		}
	}
	return list
}
