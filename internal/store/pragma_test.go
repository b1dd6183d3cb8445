package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/atomicfile"
	"toolgym/internal/goroutine"
)

// Fill makes the file unable to grow, as on a full disk.
func (s *Store) Fill(ctx context.Context) error { return s.pragma(ctx, "max_page_count = 1") }

// Hurry makes writes give up at once on a file that another process holds.
func (s *Store) Hurry(ctx context.Context) error { return s.pragma(ctx, "busy_timeout = 1") }

func (s *Store) pragma(ctx context.Context, setting string) error {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA "+setting); err != nil {
		return fmt.Errorf("setting %s: %w", setting, err)
	}
	return nil
}

// TestAFullDiskEndsATransaction commits two statements together. The first has no
// room, for which SQLite undoes the transaction; the second must not be written
// outside of it.
func TestAFullDiskEndsATransaction(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "toolgym.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	insert := func(name string, size int) write {
		return write{one: true, done: make(chan error, 1), do: func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO tasks (name, hash, document) VALUES (?, 'hash', ?)`, name, strings.Repeat("x", size))
			return err
		}}
	}
	together := []write{insert("large", 1<<20), insert("small", 1)}
	s.commit(together)
	for i, w := range together {
		if err := s.explain(<-w.done); !atomicfile.IsFull(err) {
			t.Errorf("write %d: got %v; want an error of a full disk", i, err)
		}
	}
	var n int
	if err := s.reader.QueryRow(`SELECT count(*) FROM tasks`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows are written, %v; want 0", n, err)
	}
}

// TestAPanicFailsItsWrite commits writes together of which one panics: it fails
// alone, and leaves nothing.
func TestAPanicFailsItsWrite(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "toolgym.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	insert := func(name string, broken bool) write {
		return write{done: make(chan error, 1), do: func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO tasks (name, hash, document) VALUES (?, 'hash', '')`, name)
			if broken {
				panic("a defect")
			}
			return err
		}}
	}
	for _, one := range []bool{false, true} {
		together := []write{insert(fmt.Sprint("before", one), false), insert(fmt.Sprint("broken", one), true), insert(fmt.Sprint("after", one), false)}
		together[0].one, together[2].one = one, one
		s.commit(together)
		for i, w := range together {
			err := <-w.done
			if p, ok := errors.AsType[*goroutine.PanicError](err); ok != (i == 1) || ok && p.Value != "a defect" || !ok && err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
	}
	var names int
	if err := s.writer.QueryRow(`SELECT count(*) FROM tasks`).Scan(&names); err != nil || names != 4 {
		t.Errorf("%d tasks, %v", names, err)
	}
}
