package evaluation

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/goroutine"
	"toolgym/internal/quota"
)

// mostReferences bounds the runs whose references are kept.
const mostReferences = 64

// References are what the agents without a language model made of runs, kept for
// a server whose readers ask for the same report again and again: the agents play
// as many trials as the model did. Of each run the newest is kept, for as long as
// its trials and their verdicts are the same. It is safe for concurrent use.
type References struct {
	playing sync.WaitGroup
	turn    chan struct{}   // one run's agents play at a time
	life    context.Context //nolint:containedctx // of those who play, which no request may end
	end     context.CancelFunc

	mu     sync.Mutex
	byName map[string]*reference
	names  *quota.Ring[string] // by the owner of the run
}

// A reference is what is kept of a run.
type reference struct {
	trials [sha256.Size]byte // of the run, when the agents were asked
	cancel context.CancelFunc
	ended  chan struct{} // closed when they have played
	played report.Report
	err    error
}

// NewReferences keeps nothing yet. Close it.
func NewReferences() *References {
	life, end := context.WithCancel(context.Background())
	return &References{turn: make(chan struct{}, 1), life: life, end: end, byName: map[string]*reference{}, names: quota.NewRing[string](mostReferences)}
}

// Close stops the agents that play, and waits for them.
func (r *References) Close() {
	r.mu.Lock()
	r.end()
	r.mu.Unlock() // no further one begins
	r.playing.Wait()
}

// Report is [Room.Report], in which the agents play once. They play on when the
// patience of one who asks is over, or the request: the report is then without
// its baselines, and not whole, and the next who asks may have them. Baselines
// that fail are a gap in the report and play again for the next who asks.
func (r *References) Report(ctx context.Context, room Room, name string, patience time.Duration) (found report.Report, whole bool, err error) {
	run, records, err := room.kept(ctx, name)
	if err != nil {
		return found, false, err
	}
	if found, err = report.New(run, records, nil, source()); err != nil {
		return found, false, err
	}
	owner, err := room.Store.Owner(ctx, name)
	if err != nil {
		return found, false, err
	}
	asked := r.ask(room, owner, name, digest(run, records))
	if !asked.awaited(ctx, patience) || errors.Is(asked.err, context.Canceled) {
		return found, false, ctx.Err()
	}
	if asked.err != nil {
		found.NotComputed = append(found.NotComputed, report.NewGap("baselines", asked.err))
		return found, true, nil //nolint:nilerr // it is in the report
	}
	found.Baselines = asked.played.Baselines
	for _, gap := range asked.played.NotComputed {
		if !slices.ContainsFunc(found.NotComputed, func(g report.Gap) bool { return g.Part == gap.Part && g.Reason == gap.Reason }) {
			found.NotComputed = append(found.NotComputed, gap)
		}
	}
	return found, true, nil
}

// awaited reports whether the agents have played before the patience is over.
func (r *reference) awaited(ctx context.Context, patience time.Duration) bool {
	waiting := time.NewTimer(patience)
	defer waiting.Stop()
	select {
	case <-r.ended:
		return true
	default:
	}
	select {
	case <-r.ended:
		return true
	case <-waiting.C:
	case <-ctx.Done():
	}
	return false
}

// ask finds what is kept of a run, or lets the agents play for it, in place of
// what they played for other trials of that run.
func (r *References) ask(room Room, owner, name string, trials [sha256.Size]byte) *reference {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.byName[name]
	if old != nil && old.trials == trials {
		return old
	}
	r.drop(name)
	ctx, cancel := context.WithCancel(r.life)
	asked := &reference{trials: trials, cancel: cancel, ended: make(chan struct{})}
	if ctx.Err() != nil { // closed
		asked.err = ctx.Err()
		close(asked.ended)
		return asked
	}
	r.byName[name] = asked
	if dropped, full := r.names.Add(owner, name); full {
		r.drop(dropped)
	}
	goroutine.Go(&r.playing, func() { r.play(ctx, room, name, asked) }, func(error) {}) // played has recovered
	return asked
}

// drop forgets a run; called with mu held.
func (r *References) drop(name string) {
	if old := r.byName[name]; old != nil {
		old.cancel()
		delete(r.byName, name)
		r.names.Remove(name)
	}
}

// play lets the agents play when it is their turn. What fails is forgotten, so
// that the next who asks tries again.
func (r *References) play(ctx context.Context, room Room, name string, asked *reference) {
	defer asked.cancel()
	defer close(asked.ended)
	select {
	case r.turn <- struct{}{}:
		asked.played, asked.err = played(ctx, room, name)
		<-r.turn
	case <-ctx.Done():
		asked.err = ctx.Err()
	}
	if asked.err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[name] == asked {
		r.drop(name)
	}
}

// played makes the report of a run; a panic is an error.
func played(ctx context.Context, room Room, name string) (made report.Report, err error) {
	err = goroutine.Run(func() (err error) {
		made, err = room.Report(ctx, name)
		return err
	})
	return made, err
}

// digest names what the baselines of a report are made of: the tasks, how often
// they are played, and what became of the model's trials.
func digest(run eval.Run, records []eval.Record) (sum [sha256.Size]byte) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%v %q %d %q\n", run.Created, run.Model, run.Trials, run.Routes) // a hash takes all
	for _, task := range run.Tasks {
		_, _ = fmt.Fprintf(h, "%q %s\n", task.ID, task.Hash)
	}
	for i := range records {
		t := &records[i].Trial
		_, _ = fmt.Fprintf(h, "%q %q %d %t %t\n", t.Route, t.Task, t.Trial, t.Success, t.Failure != nil)
	}
	h.Sum(sum[:0])
	return sum
}
