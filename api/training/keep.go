package training

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolgym/api/feed"
	"toolgym/internal/atomicfile"
)

// stateName is the file that makes a folder one of ours.
const stateName = "run.json"

// keep writes how the run stands, so that a crash leaves the old text or the new.
func (r *Run) keep(state State) error {
	text, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the state of a run: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(r.dir, stateName), append(text, '\n')); err != nil {
		return fmt.Errorf("keeping the state of a run: %w", err)
	}
	return nil
}

// persist calls write until it does not fail because the disk is full. Meanwhile
// the run is paused, in memory: write is called again when the run is resumed, and
// every s.config.Retry. If the run's context ends, persist returns the error of
// write.
func (s *Runs) persist(ctx context.Context, r *Run, write func() error) error {
	for failed := 0; ; failed++ {
		err := write()
		if !atomicfile.IsFull(err) {
			r.unstall()
			return err
		}
		if failed == 0 {
			s.config.Logger.Warn("a policy run is paused", "run", r.State().ID, "error", err)
		}
		timer := time.NewTimer(s.config.Retry)
		select {
		case <-r.stall(reason(err)):
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		timer.Stop()
	}
}

// stall pauses the run for a reason, and returns what [Runs.Release] closes.
func (r *Run) stall(reason string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalled == nil {
		r.stalled = make(chan struct{})
	}
	r.state.State, r.state.Error = Paused, reason
	return r.stalled
}

// unstall ends the pause of stall. A run that is held stays paused.
func (r *Run) unstall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalled == nil {
		return
	}
	r.stalled, r.state.Error = nil, ""
	if r.gate == nil {
		r.state.State = Running
	}
}

// find takes over the runs of earlier servers. One that was under way is paused
// where its checkpoint is; without a checkpoint it never came to an update.
func (s *Runs) find() error {
	paths, err := filepath.Glob(filepath.Join(s.config.Dir, "*", stateName))
	if err != nil {
		return fmt.Errorf("looking for policy runs: %w", err)
	}
	for _, path := range paths {
		run, err := load(path)
		if err != nil {
			s.config.Logger.Warn("a policy run cannot be read", "path", path, "error", err)
			continue
		}
		s.byID[run.state.ID] = run
	}
	return nil
}

// validate reports a state that no run of ours can have been in.
func (s State) validate() error {
	switch {
	case !slices.Contains([]string{Running, Paused, Done, Cancelled, Failed}, s.State):
		return fmt.Errorf("unknown state %.40q", s.State)
	case s.Updates < 0:
		return fmt.Errorf("%d updates; expected at least 0", s.Updates)
	}
	return s.Config.Validate()
}

func load(path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	run := &Run{dir: filepath.Dir(path), feed: &feed.Feed{}}
	if err := json.Unmarshal(text, &run.state); err != nil {
		return nil, err
	}
	if run.state.ID != filepath.Base(run.dir) {
		return nil, errors.New("the folder has another name than the run")
	}
	if err := run.state.validate(); err != nil {
		return nil, err
	}
	if err := run.reread(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	run.feed.Close()
	if run.state.State != Running && run.state.State != Paused {
		return run, nil
	}
	run.state.State, run.state.Error = Paused, ""
	if _, err := os.Stat(run.Checkpoint()); err != nil {
		run.state.State, run.state.Error = Failed, "the server ended before the first checkpoint"
	}
	return run, nil
}
