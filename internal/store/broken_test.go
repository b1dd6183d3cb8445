package store_test

import (
	"bytes"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/store"
	"toolgym/tools"
)

// sqlOn runs statements on a database file past the store.
func sqlOn(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

// spare makes a store with one trial and returns its path.
func spare(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolgym.db")
	s := open(t, path)
	begin(t, s, plan("one", 1))
	keep(t, s, record("one", 0, 0, ""))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	tests := []struct {
		name    string
		code    string
		message string
		spoil   func(t *testing.T, path string) string
	}{
		{"written by a newer program", tools.Conflict, "version 900", func(t *testing.T, path string) string {
			sqlOn(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (900, 1)`)
			return path
		}},
		{"no database", tools.Unavailable, "damaged", func(t *testing.T, path string) string {
			write(t, path, bytes.Repeat([]byte("not SQLite. "), 1000))
			return path
		}},
		{"overwritten in the middle", tools.Unavailable, "damaged", func(t *testing.T, path string) string {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, append(text[:100], bytes.Repeat([]byte{0xff}, len(text)-100)...))
			return path
		}},
		{"a folder in its place", tools.Unavailable, "cannot be opened", func(_ *testing.T, path string) string {
			return filepath.Dir(path)
		}},
		{"a file where its folder should be", tools.Unavailable, "not a directory", func(_ *testing.T, path string) string {
			return filepath.Join(path, "toolgym.db")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := test.spoil(t, spare(t))
			s, err := store.Open(t.Context(), path)
			if err == nil {
				_ = s.Close()
			}
			e := mistake(t, err, test.code)
			if !strings.Contains(e.Message, test.message) || e.Where == "" || e.Want == "" {
				t.Errorf("got %q at %q, want %q", e.Message, e.Where, e.Want)
			}
		})
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheFileIsAppendOnly(t *testing.T) {
	db := sqlOn(t, spare(t))
	for _, statement := range []string{`UPDATE trials SET seed = 1`, `UPDATE verdicts SET success = 0`} {
		if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// max_page_count makes SQLite report a full disk.
func TestAFullDisk(t *testing.T) {
	path := spare(t)
	s := open(t, path)
	if err := s.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	large := record("one", 0, 1, "")
	large.Transcript = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	e := mistake(t, s.Keep(t.Context(), large), tools.Exhausted)
	if !strings.Contains(e.Message, "full") {
		t.Errorf("got %v", e)
	}
	if trials, err := s.Trials(t.Context(), "one"); err != nil || len(trials) != 1 {
		t.Errorf("what was kept before: %v, %v", trials, err)
	}
}

func TestALockedFile(t *testing.T) {
	path := spare(t)
	s := open(t, path)
	if err := s.Hurry(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := sqlOn(t, path, `BEGIN IMMEDIATE`)
	e := mistake(t, s.Keep(t.Context(), record("one", 0, 1, "")), tools.Unavailable)
	if !strings.Contains(e.Message, "another process") {
		t.Errorf("got %v", e)
	}
	if _, err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	keep(t, s, record("one", 0, 1, ""))
}
