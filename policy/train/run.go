package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"toolgym/policy"
	"toolgym/policy/telemetry"
)

// Options are what surrounds a run and does not change its outcome. All are
// optional.
type Options struct {
	// Checkpoint is the safetensors file that the run is saved to: at its
	// start, after evaluations, when it is stopped and at its end.
	Checkpoint string
	// Observe is told each update. Its error ends the run.
	Observe func(telemetry.Record) error
	// Now tells the time, for the speed in records.
	Now func() time.Time
	// CPU tells the processor's time spent so far.
	CPU func() time.Duration
}

// Result is what a run came to: for each level, in the order of the
// configuration, success and mean reward of greedy plans on fresh tasks, and
// the plan that was made most often.
type Result struct {
	Done     bool      `json:"done"`
	Success  []float64 `json:"success"`
	Reward   []float64 `json:"reward"`
	Plan     []string  `json:"plan"`
	Updates  int       `json:"updates"`
	Restarts int       `json:"restarts"`
	CPU      float64   `json:"cpu_s"`

	Standings []telemetry.Standing `json:"-"`
}

// The success at which a level counts as mastered, and as good enough not to
// start again for it.
const (
	mastered   = 0.99
	goodEnough = 0.95
)

// Run trains until every level is mastered, or to the budget, and evaluates. When the
// context ends, it saves after the update it is at and returns the context's
// error. An update that diverges ends the run with [*policy.DivergedError]; the
// checkpoint is then the last that was good. A run that is finished already is
// an [*tools.Error].
func (t *Trainer) Run(ctx context.Context, o Options) (Result, error) {
	if err := t.Unfinished(); err != nil {
		return Result{}, err
	}
	meter := newMeter(o, t.progress.CPU)
	if err := t.save(o, meter); err != nil {
		return Result{}, err
	}
	for !t.finished() {
		if err := ctx.Err(); err != nil {
			return t.result(nil, meter), errors.Join(err, t.save(o, meter))
		}
		if err := t.turn(o, meter); err != nil {
			return t.result(nil, meter), t.kept(err, o)
		}
	}
	if err := t.save(o, meter); err != nil {
		return Result{}, err
	}
	standings, err := t.Evaluate(t.config.Tasks)
	return t.result(standings, meter), err
}

// turn makes an update, evaluates when it is due, and reports.
func (t *Trainer) turn(o Options, meter *meter) error {
	record, err := t.update()
	if err != nil {
		return err
	}
	record.UpdatesPerSecond = meter.speed()
	due := t.progress.Updates%t.config.Evaluate == 0
	if due {
		if record.Greedy, err = t.check(); err != nil {
			return err
		}
	}
	if o.Observe != nil {
		if err := o.Observe(record); err != nil {
			return err
		}
	}
	if due {
		return t.save(o, meter)
	}
	return nil
}

// kept says where the last good checkpoint is.
func (t *Trainer) kept(err error, o Options) error {
	if _, ok := errors.AsType[*policy.DivergedError](err); !ok || o.Checkpoint == "" {
		return err
	}
	return fmt.Errorf("%w; the last good checkpoint is %s, of update %d", err, o.Checkpoint, t.progress.Saved)
}

// Evaluate plays n fresh tasks of each level greedily. It changes nothing.
func (t *Trainer) Evaluate(n int) ([]telemetry.Standing, error) {
	return t.evaluator.evaluate(n, t.config.Seed, lastStream)
}

// check evaluates on the way, and draws the consequences.
func (t *Trainer) check() ([]telemetry.Standing, error) {
	stream := checkStream + uint64(2*t.progress.Updates)
	standings, err := t.evaluator.evaluate(t.config.Check, t.config.Seed, stream)
	if err != nil || t.config.Curriculum == Published {
		return standings, err
	}
	if t.progress.polished(standings, t.config) {
		all, err := t.evaluator.evaluate(t.config.Tasks, t.config.Seed, stream+1)
		if err != nil {
			return nil, err
		}
		t.progress.Mastered = t.config.reached(all, mastered)
	}
	if t.progress.stuck(standings, t.config) {
		return standings, t.restart()
	}
	return standings, nil
}

// reached tells whether every level has a success, with plans that are not too
// long.
func (c Config) reached(standings []telemetry.Standing, success float64) bool {
	for _, s := range standings {
		if s.Success < success || c.Excess > 0 && s.Steps > (1+c.Excess)*s.Optimal {
			return false
		}
	}
	return true
}

// restart begins again with a seed derived from the run's own.
func (t *Trainer) restart() error {
	t.progress.restart()
	derived := rand.New(rand.NewPCG(t.config.Seed, uint64(t.progress.Restarts)<<8)).Uint64()
	return t.begin(derived)
}

func (t *Trainer) result(standings []telemetry.Standing, meter *meter) Result {
	r := Result{Done: standings != nil, Updates: t.progress.Updates, Restarts: t.progress.Restarts, CPU: meter.spent(), Standings: standings}
	for _, s := range standings {
		r.Success, r.Reward, r.Plan = append(r.Success, s.Success), append(r.Reward, s.Reward), append(r.Plan, s.Plan)
	}
	return r
}
