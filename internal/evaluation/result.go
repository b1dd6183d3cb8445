package evaluation

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/goroutine"
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
	trials, err := r.Store.Shortened(ctx, run.Name)
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
// make of the same tasks. Where the tasks are no longer what they were when the
// run began, the report has no such agents and says so.
func (r Room) Report(ctx context.Context, name string) (report.Report, error) {
	run, records, err := r.kept(ctx, name)
	if err != nil {
		return report.Report{}, err
	}
	return r.report(ctx, run, records)
}

// kept is a run with what a report needs of its trials. One of them at a time is in
// memory as a whole.
func (r Room) kept(ctx context.Context, name string) (eval.Run, []eval.Record, error) {
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return run, nil, err
	}
	var records []eval.Record
	err = r.Store.EachRecord(ctx, name, "", func(one eval.Record) error {
		records = append(records, report.Short(one))
		return nil
	})
	return run, records, err
}

// report makes a report; what the baselines cannot do does not affect the rest
// of it. The error is the context's.
func (r Room) report(ctx context.Context, run eval.Run, records []eval.Record) (report.Report, error) {
	var agents []report.Agent
	failed := goroutine.Run(func() (err error) {
		agents, err = r.references(ctx, run)
		return err
	})
	if ctx.Err() != nil {
		return report.Report{}, fmt.Errorf("reporting %s: %w", run.Name, ctx.Err())
	}
	made, err := report.New(run, records, agents, source())
	if failed != nil {
		made.NotComputed = append(made.NotComputed, report.NewGap("baselines", failed))
	}
	for _, gap := range made.NotComputed {
		r.log().LogAttrs(ctx, slog.LevelError, "computing a report", slog.String("run", run.Name), slog.String("part", gap.Part), goroutine.Attr(gap.Err))
	}
	return made, err
}

func (r Room) log() *slog.Logger {
	if r.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Logger
}

// items makes a run's tasks again.
func (r Room) items(ctx context.Context, run eval.Run) ([]eval.Item, error) {
	items, known := make([]eval.Item, len(run.Tasks)), map[string]tools.Set{}
	for i, task := range run.Tasks {
		item, err := eval.Restore(ctx, r.Specs, task, known)
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
	items, err := r.items(ctx, run)
	if err != nil {
		return nil, err
	}
	return r.Baselines(ctx, items, run.Trials)
}

// Baselines plays the agents that a report compares a model with. What one of
// them cannot play it leaves out, with the reason.
func (r Room) Baselines(ctx context.Context, items []eval.Item, trials int) ([]report.Agent, error) {
	scorer, err := r.scorer()
	if err != nil {
		return nil, err
	}
	var agents []report.Agent
	for _, b := range r.baselines() {
		played, omitted, err := b.Trials(ctx, items, trials, scorer)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(omitted, func(o eval.Omission) bool { return o.Err != nil }); i >= 0 { // the first is enough
			r.log().LogAttrs(ctx, slog.LevelError, "playing a baseline", slog.String("baseline", b.Name),
				slog.String("task", omitted[i].Item.Task.ID), goroutine.Attr(omitted[i].Err))
		}
		agent := report.Agent{Name: b.Name, Trials: played}
		agent.LeftOut, agent.Reason = leftOut(omitted)
		agents = append(agents, agent)
	}
	return agents, nil
}

// baselines are agents for one report: the policy's networks are not for two at
// a time.
func (r Room) baselines() []eval.Baseline {
	return []eval.Baseline{
		{Name: "does nothing", New: func(int) tools.Agent { return baseline.Idle() }},
		{Name: "calls at random", New: func(seed int) tools.Agent { return baseline.Random(rand.NewPCG(uint64(seed), 0)) }},
		{Name: "oracle", Reason: "no solution is written down there"},
		r.trainedPolicy(),
	}
}

// trainedPolicy is the policies of package trained; if they cannot be loaded,
// the baseline is for no item and has the reason.
func (r Room) trainedPolicy() eval.Baseline {
	b := eval.Baseline{Name: "trained policy", Reason: "no policy is trained there"}
	var policy trained.Player
	err := goroutine.Run(func() (err error) {
		policy, err = trained.NewPlayer(r.Specs)
		return err
	})
	if err != nil {
		b.Reason, b.Plays = report.NewGap("", err).Reason, func(eval.Item) bool { return false }
		return b
	}
	b.New = func(int) tools.Agent { return policy }
	b.Plays = func(item eval.Item) bool { return item.Expected == nil && policy.Knows(item.Task) }
	return b
}

// leftOut names the levels of the omitted items, and the distinct reasons.
func leftOut(omitted []eval.Omission) (levels []string, reason string) {
	const most = 3
	levels = []string{}
	var reasons []string
	for _, o := range omitted {
		if level := o.Item.Task.Env + "/" + o.Item.Task.Level; !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
		if !slices.Contains(reasons, o.Reason) {
			reasons = append(reasons, o.Reason)
		}
	}
	if len(reasons) > most {
		reasons = append(reasons[:most], fmt.Sprintf("and %d other reasons", len(reasons)-most))
	}
	return levels, strings.Join(reasons, "; ")
}
