package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself

	"toolgym/internal/goroutine"
)

// patience is how long a statement waits for another process that writes.
const patience = 5 * time.Second

// A Store is an open database file. It is safe for concurrent use.
type Store struct {
	path   string
	writer *sql.DB // one connection, used by the goroutine of write.go alone
	reader *sql.DB
	move   *sql.Stmt // of the writer: insertMove
	queue  chan write
	closed chan struct{} // no more writes are taken
	once   sync.Once
	done   sync.WaitGroup
}

// Open opens the database at path, creates it and its folder if they are
// missing, and brings its schema up to date.
func Open(ctx context.Context, path string) (*Store, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(absolute), 0o755); err != nil {
		return nil, unavailable(absolute, err.Error(), "a folder that can be written")
	}
	s := &Store{path: absolute, queue: make(chan write, mostTogether), closed: make(chan struct{})}
	if s.writer, err = connect(absolute, "immediate", 1); err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.writer); err != nil {
		_ = s.writer.Close()
		return nil, s.explain(err)
	}
	if s.reader, err = connect(absolute, "deferred", max(2, runtime.GOMAXPROCS(0))); err != nil {
		_ = s.writer.Close()
		return nil, err
	}
	if s.move, err = s.writer.PrepareContext(ctx, insertMove); err != nil {
		return nil, errors.Join(s.explain(err), s.reader.Close(), s.writer.Close())
	}
	goroutine.Go(&s.done, s.work, func(error) {}) // commit has recovered
	return s, nil
}

// connect opens a pool. Nothing is touched before the first statement.
func connect(path, lock string, connections int) (*sql.DB, error) {
	return dial(path, lock, connections,
		fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), // first: the others may have to wait
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)")
}

func dial(path, lock string, connections int, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": pragmas, "_txlock": {lock}}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	if !strings.HasPrefix(address.Path, "/") { // a drive letter
		address.Path = "/" + address.Path
	}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Path is where the file lies.
func (s *Store) Path() string { return s.path }

// Close finishes the writes that were accepted and closes the file. It may be
// called again.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		s.done.Wait()
		err = errors.Join(s.move.Close(), s.reader.Close(), s.writer.Close())
	})
	return err
}
