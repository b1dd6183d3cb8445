package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"toolgym/internal/atomicfile"
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
