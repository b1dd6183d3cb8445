package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Claim says that one server plays the episodes of a database. It ends with
// the process at the latest.
type Claim struct {
	db   *sql.DB
	conn *sql.Conn
}

// Claim takes the episodes of the database for one server: two that both went
// on with the same would lose each other's steps. While another process has
// them that is an [*tools.Error], code conflict. Runs can be written meanwhile.
//
// The claim is SQLite's own lock on an empty file beside the database, which
// every system gives up when the process dies, however it dies.
func (s *Store) Claim(ctx context.Context) (*Claim, error) {
	db, err := dial(s.path+".claim", "exclusive", 1)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	if _, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return nil, errors.Join(s.claimed(err), conn.Close(), db.Close())
	}
	return &Claim{db, conn}, nil
}

func (s *Store) claimed(err error) error {
	if refusal.Is(s.explain(err), tools.Unavailable) {
		return &tools.Error{Code: tools.Conflict, Where: s.path, Message: "another server plays the episodes of this database", Want: "that server to end, or another --data folder"}
	}
	return fmt.Errorf("claiming the episodes of %s: %w", s.path, err)
}

// Release gives the claim up.
func (c *Claim) Release() error { return errors.Join(c.conn.Close(), c.db.Close()) }

// Probe reports whether the database takes writes at present, by making one.
func (s *Store) Probe(ctx context.Context) error {
	return s.writeOne(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE probe SET at = at + 1`)
		return err
	})
}
