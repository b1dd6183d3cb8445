package store_test

import (
	"sync"
	"testing"
	"time"

	"toolgym/internal/atomicfile"
	"toolgym/internal/parts"
	"toolgym/internal/store"
	"toolgym/tools"
)

// TestWritesOnAFullDisk makes many writes at once while no file can be written, of
// one statement and of several: each fails as a whole, and succeeds later.
func TestWritesOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	s := open(t, spare(t))
	const writers = 40
	add := func() (errs []error) {
		errs = make([]error, 2*writers)
		var done sync.WaitGroup
		for i := range writers {
			done.Add(2)
			go func() {
				defer done.Done()
				errs[i] = s.Keep(t.Context(), record("one", 0, i+1, ""))
			}()
			go func() {
				defer done.Done()
				errs[writers+i] = s.AddMove(t.Context(), "episode", i+1, store.Move{Made: time.Unix(1, 0)})
			}()
		}
		done.Wait()
		return errs
	}
	if err := s.AddEpisode(t.Context(), store.Episode{Number: 1, ID: "episode", Task: "t", Created: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	restore := parts.LimitFiles(t, 0)
	failed := add()
	restore()
	for _, err := range failed {
		if _ = mistake(t, err, tools.Exhausted); !atomicfile.IsFull(err) {
			t.Errorf("got %v; want an error of a full disk", err)
		}
	}
	if trials, err := s.Trials(t.Context(), "one"); err != nil || len(trials) != 1 {
		t.Errorf("%d trials, %v; want that of before", len(trials), err)
	}
	for _, err := range add() {
		if err != nil {
			t.Errorf("with space: %v", err)
		}
	}
	if trials, err := s.Trials(t.Context(), "one"); err != nil || len(trials) != 1+writers {
		t.Errorf("%d trials, %v; want %d", len(trials), err, 1+writers)
	}
}
