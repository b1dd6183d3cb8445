package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A place is a server at work.
type place struct {
	runner *Runner
	server Server
	queue  *queue
	one    *sync.Mutex // held while Observe is told

	lock     sync.Mutex
	failures int // in a row
}

// work plays jobs until there are none. The error is the ledger's or the
// environment's, and ends the run.
func (p *place) work(ctx context.Context) error {
	plays := func(route string) bool { return p.server.Drivers[route] != nil }
	for {
		j, ok := p.queue.next(plays)
		if !ok {
			return nil
		}
		pause, err := p.play(ctx, j)
		if err != nil {
			return err
		}
		if !wait(ctx, pause) {
			return nil
		}
	}
}

// play plays one job and keeps it, or gives it back to be repeated; then the
// server is to be left alone for a pause, while others go on.
func (p *place) play(ctx context.Context, j job) (pause time.Duration, err error) {
	j.attempts++
	record := p.record(j)
	held, release := p.runner.Budget.Hold(ctx)
	defer release()
	transcript, score, err := p.attempt(held, j, record.Seed)
	if ctx.Err() != nil {
		return 0, nil // given up, not failed
	}
	if err != nil {
		return 0, err
	}
	p.log(ctx, record.Trial, score.Cause)
	if pause, stumbled := p.count(score.Failure); stumbled && p.queue.again(j) {
		return pause, nil
	}
	defer p.queue.done()
	if err := record.fill(transcript, score); err != nil {
		record = record.lost()
		p.log(ctx, record.Trial, err)
	}
	return 0, p.keep(ctx, record)
}

// attempt plays a job and grades it. What goes wrong on our side, a panic
// included, fails this trial; the error is the context's.
func (p *place) attempt(ctx context.Context, j job, seed int) (transcript rollout.Transcript, score grpo.Score, err error) {
	err = goroutine.Run(func() (err error) {
		transcript, err = p.server.Drivers[j.route].Run(ctx, j.item.env(), j.item.Task, seed)
		if err != nil {
			return fmt.Errorf("playing %s: %w", j.item.Task.ID, err)
		}
		score, err = j.item.grade(ctx, p.runner.Scorer, transcript)
		return err
	})
	if err == nil || ctx.Err() != nil {
		return transcript, score, ctx.Err()
	}
	refused, isRefused := errors.AsType[*tools.Error](err)
	switch {
	case !isRefused:
		score = grpo.Score{Failure: &grpo.Failure{Kind: grpo.FailureHarness, Reason: "internal error"}, Cause: err}
	case refused.Code == tools.Unavailable:
		score = grpo.Score{Failure: &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: refused.Error()}}
	default:
		score = grpo.Score{Failure: &grpo.Failure{Kind: grpo.FailureHarness, Reason: refused.Error()}}
	}
	return transcript, score, nil
}

// log logs why a trial failed on our side, under its run's name.
func (p *place) log(ctx context.Context, trial Trial, cause error) {
	if cause == nil || p.runner.Logger == nil {
		return
	}
	p.runner.Logger.LogAttrs(ctx, slog.LevelError, "trial failed", slog.String("run", trial.Run), slog.String("task", trial.Task),
		slog.String("route", trial.Route), slog.Int("trial", trial.Trial), goroutine.Attr(cause))
}

// record is the trial before it is played.
func (p *place) record(j job) Record {
	run := p.runner.Run
	r := Record{Digest: run.Digest, Seed: trialSeed(run.Seed, j.trial), Options: run.Options, Started: p.runner.Now().UTC(),
		Server: p.server.Address, Version: p.server.Version, Template: p.server.Template}
	r.Trial = Trial{Run: run.Name, Model: run.Model, Route: j.route, Task: j.item.Task.ID,
		Env: j.item.Task.Env, Level: j.item.Task.Level, Trial: j.trial}
	return r
}

// trialSeed is the seed that is sent to the server. Servers take it as a signed
// 32-bit number.
func trialSeed(seed uint64, trial int) int { return int((seed + uint64(trial)) & math.MaxInt32) }

// patience is how many failures in a row a server may have until its trials
// are no longer repeated: it is not stumbling then but gone, and every trial
// that is left finds that out once.
const patience = 8

// count keeps account of failures in a row. It reports whether the trial is
// worth a repetition, and for how long to leave the server alone before it.
func (p *place) count(failure *grpo.Failure) (pause time.Duration, stumbled bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if failure == nil || failure.Kind != grpo.FailureInfrastructure {
		p.failures = 0
		return 0, false
	}
	p.failures++
	if p.failures > patience {
		return 0, false
	}
	retry := p.runner.Retry
	return min(retry.Pause<<(p.failures-1), retry.MaxPause), true
}

// keep writes the record, also when the run is being stopped meanwhile: the
// model has been asked. A record that the ledger cannot write is kept as a
// failure of the harness; where that fails too, the ledger is at fault.
func (p *place) keep(ctx context.Context, record Record) error {
	err := p.write(ctx, record)
	if _, isRefused := errors.AsType[*tools.Error](err); err != nil && !isRefused {
		lost := record.lost()
		if p.write(ctx, lost) == nil {
			p.log(ctx, lost.Trial, err)
			record, err = lost, nil
		}
	}
	if refusal.Is(err, tools.Conflict) {
		return nil // another process has kept the trial meanwhile
	}
	if err != nil {
		return err
	}
	if p.runner.Observe != nil {
		p.one.Lock()
		defer p.one.Unlock()
		p.runner.Observe(record.Trial)
	}
	return nil
}

func (p *place) write(ctx context.Context, record Record) error {
	return goroutine.Run(func() error { return p.runner.Ledger.Keep(context.WithoutCancel(ctx), record) })
}

// lost is the record of a trial whose own record cannot be encoded or written.
func (r Record) lost() Record {
	r.Score = grpo.Score{Failure: &grpo.Failure{Kind: grpo.FailureHarness, Reason: "the trial's record could not be kept"}}
	r.FinishReason, r.Transcript = "", json.RawMessage("{}")
	return r
}

// wait pauses, and reports false when the context ended meanwhile.
func wait(ctx context.Context, pause time.Duration) bool {
	if pause == 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
