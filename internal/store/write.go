package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"toolgym/internal/goroutine"
	"toolgym/tools"
)

// mostTogether bounds the writes that wait, and those of one commit.
const mostTogether = 256

// A write is a piece of work within a transaction, and who waits for it.
type write struct {
	do   func(*sql.Tx) error
	one  bool       // a single statement, which undoes itself when it fails
	done chan error // buffered
}

// write runs do within a transaction and returns when it is committed. Writes
// that wait at the same time share a transaction; an error of do undoes what do
// did and nothing else.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	return s.enqueue(ctx, write{do: do, done: make(chan error, 1)})
}

// writeOne is write for a do that runs one statement. It needs no savepoint,
// which takes about as long as a small statement does.
func (s *Store) writeOne(ctx context.Context, do func(*sql.Tx) error) error {
	return s.enqueue(ctx, write{do: do, one: true, done: make(chan error, 1)})
}

func (s *Store) enqueue(ctx context.Context, w write) error {
	select {
	case <-s.closed:
		return &tools.Error{Code: tools.Unavailable, Where: s.path, Message: "the database is closed"}
	default:
	}
	select {
	case s.queue <- w:
	case <-s.closed:
		return &tools.Error{Code: tools.Unavailable, Where: s.path, Message: "the database is closed"}
	case <-ctx.Done():
		return fmt.Errorf("waiting for the database: %w", ctx.Err())
	}
	return s.explain(<-w.done) // it is under way; to give up now would hide whether it was written
}

// work is the one goroutine that writes. It ends when the store is closed and
// nothing waits any more.
func (s *Store) work() {
	for {
		select {
		case first := <-s.queue:
			s.commit(s.gather(first))
		case <-s.closed:
			select {
			case first := <-s.queue:
				s.commit(s.gather(first))
			default:
				return
			}
		}
	}
}

// gather adds to first what waits behind it.
func (s *Store) gather(first write) []write {
	together := []write{first}
	for len(together) < mostTogether {
		select {
		case next := <-s.queue:
			together = append(together, next)
		default:
			return together
		}
	}
	return together
}

// commit runs the writes in one transaction and answers each, also after a panic
// in one of them or in the database's driver.
func (s *Store) commit(together []write) {
	errs := make([]error, len(together))
	err := goroutine.Run(func() error { return s.transact(together, errs) })
	for i, w := range together {
		w.done <- errors.Join(errs[i], err)
	}
}

func (s *Store) transact(together []write, errs []error) error {
	tx, err := s.writer.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	for i, w := range together {
		if w.one {
			errs[i] = goroutine.Run(func() error { return w.do(tx) })
			if endsTransaction(errs[i]) {
				return errs[i]
			}
			continue
		}
		if errs[i], err = within(tx, w.do); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// within runs do so that its failure leaves the transaction as it was. The
// second error is the transaction's own end.
func within(tx *sql.Tx, do func(*sql.Tx) error) (own, fatal error) {
	if _, err := tx.Exec("SAVEPOINT one"); err != nil {
		return nil, fmt.Errorf("setting a savepoint: %w", err)
	}
	if own = goroutine.Run(func() error { return do(tx) }); own != nil {
		if _, err := tx.Exec("ROLLBACK TO one"); err != nil {
			return own, fmt.Errorf("undoing a write: %w", errors.Join(own, err))
		}
	}
	if _, err := tx.Exec("RELEASE one"); err != nil {
		return own, fmt.Errorf("releasing a savepoint: %w", err)
	}
	return own, nil
}
