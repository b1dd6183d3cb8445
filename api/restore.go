package api

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"toolgym/internal/goroutine"
	"toolgym/internal/store"
)

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
