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

// Options do not change the outcome of a run. All are optional.
type Options struct {
	// Checkpoint is the safetensors file that the run is saved to: at its start,
	// after evaluations, when it is stopped, and at its end.
	Checkpoint string
	// Save writes a checkpoint by calling write, and may do so again if that failed.
	// Its error ends the run. By default, the checkpoint is written once.
	Save func(write func() error) error
	// Observe is called after each update. Its error ends the run.
	Observe func(telemetry.Record) error
	// Now is the clock for the speed in records.
	Now func() time.Time
	// CPU returns the CPU time of the process so far.
	CPU func() time.Duration
}

// Result is the result of a run: for each level, in the order of the configuration,
// success and mean reward of greedy plans on fresh tasks, and the most frequent
// plan.
type Result struct {
	Done     bool      `json:"done"`
	Success  []float64 `json:"success"`
	Reward   []float64 `json:"reward"`
	Plan     []string  `json:"plan"`
	Updates  int       `json:"updates"`
	Restarts int       `json:"restarts"`
	CPU      float64   `json:"cpu_s"`

	StageResults []telemetry.StageResult `json:"-"`
}

// Success rates.
const (
	mastered   = 0.99 // a level is mastered
	goodEnough = 0.95 // a level is no reason to restart
)

// Run trains until every level is mastered or the maximum number of updates is
// reached, and evaluates. When the context ends, it saves after the current update
// and returns the context's error. An update that diverges ends the run with a
// [*policy.DivergedError]; the checkpoint is then the last good one. A finished run
// is a [*tools.Error].
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
		if err := t.step(o, meter); err != nil {
			return t.result(nil, meter), t.withCheckpoint(err, o)
		}
	}
	if err := t.save(o, meter); err != nil {
		return Result{}, err
	}
	standings, err := t.Evaluate(t.config.Tasks)
	return t.result(standings, meter), err
}

// step makes an update, evaluates when it is due, and calls Observe.
func (t *Trainer) step(o Options, meter *meter) error {
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

// withCheckpoint adds the last good checkpoint to a divergence.
func (t *Trainer) withCheckpoint(err error, o Options) error {
	if _, ok := errors.AsType[*policy.DivergedError](err); !ok || o.Checkpoint == "" {
		return err
	}
	return fmt.Errorf("%w; the last good checkpoint is %s, of update %d", err, o.Checkpoint, t.progress.Saved)
}

// Evaluate plays n fresh tasks of each level greedily. It does not change the run.
func (t *Trainer) Evaluate(n int) ([]telemetry.StageResult, error) {
	return t.evaluator.evaluate(n, t.config.Seed, finalStream)
}

// check evaluates during the run, and decides whether the run has mastered all
// levels or must restart.
func (t *Trainer) check() ([]telemetry.StageResult, error) {
	stream := checkStream + uint64(2*t.progress.Updates)
	standings, err := t.evaluator.evaluate(t.config.Check, t.config.Seed, stream)
	if err != nil || t.config.Curriculum == Published {
		return standings, err
	}
	if t.progress.converged(standings, t.config) {
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

// reached reports whether every level has a success rate, with plans that are not
// too long.
func (c Config) reached(standings []telemetry.StageResult, success float64) bool {
	for _, s := range standings {
		if s.Success < success || c.Excess > 0 && s.Steps > (1+c.Excess)*s.Optimal {
			return false
		}
	}
	return true
}

// restart restarts the run with a seed derived from its seed.
func (t *Trainer) restart() error {
	t.progress.restart()
	derived := rand.New(rand.NewPCG(t.config.Seed, uint64(t.progress.Restarts)<<8)).Uint64()
	return t.begin(derived)
}

func (t *Trainer) result(standings []telemetry.StageResult, meter *meter) Result {
	r := Result{Done: standings != nil, Updates: t.progress.Updates, Restarts: t.progress.Restarts, CPU: meter.spent(), StageResults: standings}
	for _, s := range standings {
		r.Success, r.Reward, r.Plan = append(r.Success, s.Success), append(r.Reward, s.Reward), append(r.Plan, s.Plan)
	}
	return r
}

// meter measures the speed and the CPU time of a run.
type meter struct {
	now    func() time.Time
	cpu    func() time.Duration
	before float64 // CPU seconds of the run before it was resumed
	start  time.Duration
	last   time.Time
}

func newMeter(o Options, before float64) *meter {
	m := &meter{now: o.Now, cpu: o.CPU, before: before}
	if m.now != nil {
		m.last = m.now()
	}
	if m.cpu != nil {
		m.start = m.cpu()
	}
	return m
}

// speed returns updates per second since the last call; 0 without a clock.
func (m *meter) speed() float64 {
	if m.now == nil {
		return 0
	}
	last := m.last
	m.last = m.now()
	if seconds := m.last.Sub(last).Seconds(); seconds > 0 {
		return 1 / seconds
	}
	return 0
}

// spent returns the CPU seconds of the whole run; without a clock, those before it
// was resumed.
func (m *meter) spent() float64 {
	if m.cpu == nil {
		return m.before
	}
	return m.before + (m.cpu() - m.start).Seconds()
}
