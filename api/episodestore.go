package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"toolgym/internal/atomicfile"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/internal/store"
	"toolgym/tools"
)

// A ledger keeps the episodes beyond the process: what is accepted is in the
// database before it is answered. Without a store it keeps nothing, and every
// method is done at once.
type ledger struct {
	store     *store.Store // nil without Config.Data
	claim     *store.Claim
	now       func() time.Time
	retention time.Duration
	most      int
}

// databaseName is the file that the commands share, within Config.Data.
const databaseName = "toolgym.db"

// openLedger opens the database and takes its episodes for this server.
func openLedger(ctx context.Context, c Config) (*ledger, error) {
	l := &ledger{now: c.Now, retention: c.Retention, most: c.MaxKept}
	if c.Data == "" {
		return l, nil
	}
	var err error
	if l.store, err = store.Open(ctx, databasePath(c.Data)); err != nil {
		return nil, err
	}
	if l.claim, err = l.store.Claim(ctx); err != nil {
		return nil, errors.Join(err, l.store.Close())
	}
	return l, nil
}

// close finishes what is being written. It may be called again.
func (l *ledger) close() error {
	if l.store == nil {
		return nil
	}
	if err := l.store.Close(); err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	if l.claim == nil {
		return nil
	}
	err := l.claim.Release()
	l.claim = nil
	return err
}

// begin keeps a new episode with the moves that it has.
func (l *ledger) begin(ctx context.Context, number uint64, e *episode, moves []store.Move) error {
	if l.store == nil {
		return nil
	}
	err := l.store.AddEpisode(ctx, store.Episode{Number: number, ID: e.id, Task: e.task.ID, Owner: e.owner, MaxSteps: e.maxSteps, Created: e.begun, Moves: moves})
	return l.lost(ctx, err, "the episode could not be kept, and was not begun")
}

// add keeps the move that made a step.
func (l *ledger) add(ctx context.Context, id string, step int, m store.Move) error {
	if l.store == nil {
		return nil
	}
	return l.lost(ctx, l.store.AddMove(ctx, id, step, m), "the step could not be kept, and was not made")
}

// ready reports whether the database takes writes.
func (l *ledger) ready(ctx context.Context) error {
	if l.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := l.store.Probe(ctx); err != nil {
		exchangeOf(ctx).fault = err
		return &tools.Error{Code: tools.Unavailable, Message: "the database takes no writes; the log says why"}
	}
	return nil
}

// read finds what is kept of an episode.
func (l *ledger) read(ctx context.Context, id string) (store.Episode, error) {
	e, err := l.store.Episode(ctx, id)
	return e, l.lost(ctx, err, "the episode cannot be read now")
}

// delete forgets an episode.
func (l *ledger) delete(ctx context.Context, id string) error {
	if l.store == nil {
		return nil
	}
	return l.lost(ctx, l.store.DeleteEpisode(ctx, id), "the episode could not be deleted now")
}

// end notes which episodes were given up, and deletes some whose retention is
// over. It is called now and then; nothing depends on when.
func (l *ledger) end(ctx context.Context, ids []string) error {
	if l.store == nil {
		return nil
	}
	const some = 256
	now := l.now()
	if len(ids) > 0 {
		if err := l.store.EndEpisodes(ctx, now, ids...); err != nil {
			return l.lost(ctx, err, "the ends of episodes could not be kept now")
		}
	}
	_, err := l.store.RetireEpisodes(ctx, now.Add(-l.retention), l.most, some)
	return l.lost(ctx, err, "old episodes could not be deleted now")
}

// lost answers for an error of the database: the caller is told that it may
// come again, the log is told the rest. That there is no such episode is the
// caller's own affair.
func (l *ledger) lost(ctx context.Context, err error, message string) error {
	switch {
	case err == nil:
		return nil
	case refusal.Is(err, tools.NotFound), atomicfile.IsFull(err):
		return err
	case refusal.Is(err, tools.Unavailable, tools.Exhausted):
		exchangeOf(ctx).fault = err
		return &tools.Error{Code: tools.Unavailable, Message: message}
	}
	return err
}

func databasePath(data string) string { return filepath.Join(data, databaseName) }

// restore brings the live episodes back that the database has, by replaying
// their moves. Those whose time has run out meanwhile are over; one that can
// not be replayed, because its environment has changed, is over too, and logged.
func (s *Server) restore(ctx context.Context) error {
	if s.ledger.store == nil {
		return nil
	}
	kept, last, err := s.ledger.store.Episodes(ctx)
	if err != nil {
		return err
	}
	s.episodes.made = last
	replayed := s.replayAll(ctx, kept)
	slices.SortStableFunc(kept, func(a, b store.Episode) int { return a.Used().Compare(b.Used()) })
	var over []string
	for _, k := range kept {
		if e := replayed[k.ID]; e == nil || s.episodes.restore(e, k.Number, k.Used()) != nil {
			over = append(over, k.ID)
		}
	}
	if len(kept) > 0 {
		s.config.Logger.Info("brought episodes back", "live", len(kept)-len(over), "over", len(over))
	}
	return s.ledger.end(ctx, over)
}

// replayAll replays episodes on all cores.
func (s *Server) replayAll(ctx context.Context, kept []store.Episode) map[string]*episode {
	var (
		mu       sync.Mutex
		replayed = make(map[string]*episode, len(kept))
		workers  sync.WaitGroup
		next     = make(chan store.Episode)
	)
	for range min(len(kept), runtime.GOMAXPROCS(0)) {
		goroutine.Go(&workers, func() {
			for k := range next {
				var e *episode
				err := goroutine.Run(func() (err error) { // a panic is the environment's; the others are to live
					e, err = s.revive(ctx, k)
					return err
				})
				if err != nil {
					s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "an episode cannot be brought back",
						slog.String("episode", k.ID), slog.String("task", k.Task), goroutine.Attr(err))
					continue
				}
				mu.Lock()
				replayed[k.ID] = e
				mu.Unlock()
			}
		}, func(error) {}) // nothing is left that panics
	}
	for _, k := range kept {
		if k.Used().Add(s.config.IdleExpiry).After(s.config.Now()) {
			next <- k
		}
	}
	close(next)
	workers.Wait()
	return replayed
}

// revive makes the episode that was kept.
func (s *Server) revive(ctx context.Context, kept store.Episode) (*episode, error) {
	spec, task, err := s.config.Specs.Task(kept.Task)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	e := &episode{id: kept.ID, owner: kept.Owner, begun: kept.Created, spec: spec, task: task, maxSteps: kept.MaxSteps, ledger: s.ledger}
	return e, e.begin(ctx, kept.Moves)
}
