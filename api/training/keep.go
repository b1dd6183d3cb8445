package training

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"toolgym/api/feed"
)

// stateName is the file that makes a folder one of ours.
const stateName = "run.json"

// keep writes how the run stands, so that a crash leaves the old text or the new.
func (r *Run) keep() error {
	text, err := json.MarshalIndent(r.State(), "", " ")
	if err != nil {
		return fmt.Errorf("encoding the state of a run: %w", err)
	}
	path := filepath.Join(r.dir, stateName)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o640); err != nil {
		return fmt.Errorf("keeping the state of a run: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keeping the state of a run: %w", err)
	}
	return nil
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
			s.config.Logger.Warn("a policy run can not be read", "path", path, "error", err)
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
		return fmt.Errorf("%d updates; want at least 0", s.Updates)
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
	run.state.State = Paused
	if _, err := os.Stat(run.Checkpoint()); err != nil {
		run.state.State, run.state.Error = Failed, "the server ended before the first checkpoint"
	}
	return run, nil
}
