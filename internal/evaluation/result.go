package evaluation

import (
	"context"
	"errors"
	"math/rand/v2"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
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
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return report.Report{}, err
	}
	records, err := r.Store.Records(ctx, name, "")
	if err != nil {
		return report.Report{}, err
	}
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
func (r Room) references(ctx context.Context, run eval.Run) ([][]eval.Trial, error) {
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
	var played [][]eval.Trial
	for _, b := range baselines() {
		trials, err := b.Trials(ctx, items, run.Trials, scorer)
		if err != nil {
			return nil, err
		}
		played = append(played, trials)
	}
	return played, nil
}

func baselines() []eval.Baseline {
	return []eval.Baseline{
		{Name: "does nothing", New: func(int) tools.Agent { return baseline.Idle() }},
		{Name: "calls at random", New: func(seed int) tools.Agent { return baseline.Random(rand.NewPCG(uint64(seed), 0)) }},
		{Name: "oracle"},
	}
}

// Rescore judges a run's trials again by the room's rubric and keeps the
// verdicts that differ. It returns how many did.
func (r Room) Rescore(ctx context.Context, name string) (changed int, err error) {
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return 0, err
	}
	items, err := r.items(run)
	if err != nil {
		return 0, err
	}
	scorer, err := r.scorer()
	if err != nil {
		return 0, err
	}
	records, err := r.Store.Records(ctx, name, "")
	if err != nil {
		return 0, err
	}
	again, err := eval.Rescore(ctx, items, scorer, records)
	if err != nil {
		return 0, err
	}
	different, err := differing(records, again)
	if err != nil || len(different) == 0 {
		return 0, err
	}
	return len(different), r.Store.Judge(ctx, different)
}
