package store_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"toolgym/internal/store"
	"toolgym/tools"
)

// TestDamagedFilesAreLeftAsTheyAre opens databases that are cut off or whose
// bytes were changed. Where the file is refused, the error says so to the caller
// and the file has the bytes that it had; where it is opened, everything that it
// is asked for is an answer or such an error.
func TestDamagedFilesAreLeftAsTheyAre(t *testing.T) {
	whole, err := os.ReadFile(spare(t))
	if err != nil {
		t.Fatal(err)
	}
	source := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 60 {
		text := bytes.Clone(whole)
		what := "cut off"
		switch i % 3 {
		case 0:
			text = text[:source.IntN(len(text)-1)+1] // of nothing, a new database is made
		case 1:
			what = "random in a place"
			at := source.IntN(len(text))
			for j := at; j < min(len(text), at+1+source.IntN(4096)); j++ {
				text[j] = byte(source.Uint32())
			}
		default:
			what = "random from its beginning"
			for j := range source.IntN(len(text)) + 16 {
				text[j%len(text)] = byte(source.Uint32())
			}
		}
		path := filepath.Join(t.TempDir(), "toolgym.db")
		write(t, path, text)
		s, err := store.Open(t.Context(), path)
		if err != nil {
			refused++
			e := (*tools.Error)(nil)
			if !errors.As(err, &e) || e.Message == "" || e.Where == "" {
				t.Errorf("%d, %s: refused with %v", i, what, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, text) {
				t.Errorf("%d, %s: the file that was refused has changed (%d bytes, was %d): %v", i, what, len(after), len(text), err)
			}
			continue
		}
		if _, err := s.Run(t.Context(), "one"); err == nil {
			_, _ = s.Records(t.Context(), "one", "")
		}
		if err := s.Close(); err != nil {
			t.Logf("%d, %s: closing: %v", i, what, err)
		}
	}
	if t.Logf("%d of 60 refused", refused); refused < 20 {
		t.Errorf("%d of 60 refused", refused)
	}
}

// TestAnotherSchemaIsLeftAsItIs: a database of a newer program is refused, and
// not a byte of it is changed.
func TestAnotherSchemaIsLeftAsItIs(t *testing.T) {
	path := spare(t)
	if err := sqlOn(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (900, 1)`).Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), path)
	if err == nil {
		_ = s.Close()
	}
	_ = mistake(t, err, tools.Conflict)
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed: %v", err)
	}
}
