package eval

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Driver plays one task once, and is safe for concurrent use. What the
// server or the model did wrong stands in the transcript; an error means that
// the context ended or that the environment is at fault. It fails the trial, as
// a panic does.
type Driver interface {
	Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error)
}

var (
	_ Driver = rollout.Chat{}
	_ Driver = rollout.Raw{}
	_ Driver = rollout.OpenAI{}
)

// A Server is a place where trials are played.
type Server struct {
	Address     string
	Version     string
	Template    string            // hash of the model's chat template; may be empty
	Concurrency int               // trials at a time, at least 1
	Drivers     map[string]Driver // by route
}

// A Ledger keeps what was played. Keep returns when the record is safe; a
// record of a trial that is there already is an [*tools.Error], code conflict.
type Ledger interface {
	Keep(ctx context.Context, record Record) error
}

// A Runner plays the trials of a run that are still missing.
type Runner struct {
	Run     Run
	Items   []Item // the tasks of Run, in its order
	Servers []Server
	Scorer  *grpo.Scorer
	Ledger  Ledger
	Kept    []Trial // of an earlier start; those that infrastructure failed are played again
	Retry   Retry
	Budget  *rollout.Budget // of what the trials that play at a time hold; nil is no bound
	Now     func() time.Time
	// Observe, where set, is told of every trial that was kept, one at a time.
	Observe func(Trial)
	Logger  *slog.Logger // of what fails on our side; nil discards it
}

// A Retry says how failures of the infrastructure are met.
type Retry struct {
	Attempts int           // of one trial, at least 1
	Budget   int           // repetitions of all trials together
	Pause    time.Duration // of a server after its first failure; each that follows doubles it
	MaxPause time.Duration
}

// DefaultRetry is patient with a server that stumbles, for some seconds.
func DefaultRetry() Retry {
	return Retry{Attempts: 3, Budget: 100, Pause: 250 * time.Millisecond, MaxPause: 5 * time.Second}
}

// Validate reports a setting that cannot be used.
func (r *Runner) Validate() error {
	switch {
	case len(r.Items) == 0:
		return refusal.New("tasks", "at least one task", "there is nothing to play")
	case r.Run.Trials < 1:
		return refusal.New("trials", "at least 1", "%d trials of each task", r.Run.Trials)
	case r.Retry.Attempts < 1 || r.Retry.Budget < 0:
		return refusal.New("retry", "at least 1 attempt, and a budget of 0 or more", "%d attempts, a budget of %d", r.Retry.Attempts, r.Retry.Budget)
	}
	for _, route := range r.Run.Routes {
		if !r.served(route) {
			return refusal.New("routes", "a server for each route", "no server plays the route %s", route)
		}
	}
	for _, s := range r.Servers {
		if s.Concurrency < 1 {
			return refusal.New("concurrency", "at least 1", "%d trials at a time at %s", s.Concurrency, s.Address)
		}
	}
	return nil
}

func (r *Runner) served(route string) bool {
	for _, s := range r.Servers {
		if s.Drivers[route] != nil {
			return true
		}
	}
	return false
}

// Play plays what is missing and returns when all of it is kept, the context
// has ended or the ledger fails. A trial that was under way when the context
// ended is not kept, and will be played by the next start.
func (r *Runner) Play(ctx context.Context) error {
	if err := r.Validate(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	q := newQueue(r.missing(), r.Retry)
	release := context.AfterFunc(ctx, q.stop)
	defer release()
	var (
		workers sync.WaitGroup
		one     sync.Mutex
	)
	for _, server := range r.Servers {
		p := &place{runner: r, server: server, queue: q, one: &one}
		for range server.Concurrency {
			goroutine.Go(&workers, func() {
				if err := p.work(ctx); err != nil {
					stop(err)
				}
			}, stop)
		}
	}
	workers.Wait()
	return context.Cause(ctx)
}

// missing lists the trials that were not kept, first trials first, so that a
// run that ends early has seen as many tasks as it could.
func (r *Runner) missing() []job {
	type key struct {
		task, route string
		trial       int
	}
	kept := map[key]bool{}
	for _, t := range r.Kept {
		if t.Failure == nil || t.Failure.Kind != grpo.FailureInfrastructure {
			kept[key{t.Task, t.Route, t.Trial}] = true
		}
	}
	var jobs []job
	for trial := range r.Run.Trials {
		for _, item := range r.Items {
			for _, route := range r.Run.Routes {
				if !kept[key{item.Task.ID, route, trial}] {
					jobs = append(jobs, job{item: item, route: route, trial: trial})
				}
			}
		}
	}
	return jobs
}
