package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"toolgym/api/feed"
	"toolgym/internal/goroutine"
	"toolgym/internal/quota"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools"
)

// A Config says where runs are kept and how many there may be.
type Config struct {
	Specs  tools.Specs
	Dir    string        // of the runs' folders; empty takes a temporary one, which Close deletes
	Busy   quota.Limits  // of runs that train or are held at the same time
	Kept   quota.Limits  // of runs that are kept at all
	Retry  time.Duration // after which a run that a full disk pauses tries to write again; default 10 seconds
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// Runs are the trainings of a server.
type Runs struct {
	config    Config
	temporary bool
	working   sync.WaitGroup

	mu     sync.Mutex
	byID   map[string]*Run
	closed bool
}

// Open finds the runs of a folder.
func Open(c Config) (*Runs, error) {
	c.Retry = cmp.Or(c.Retry, 10*time.Second)
	runs := &Runs{config: c, byID: map[string]*Run{}}
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "toolgym-policy-*")
		if err != nil {
			return nil, fmt.Errorf("making a folder for policy runs: %w", err)
		}
		runs.config.Dir, runs.temporary = dir, true
		return runs, nil
	}
	return runs, runs.find()
}

// Close ends the runs, saved so that they can go on, and waits for them.
func (s *Runs) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, run := range s.byID {
		run.stop(errClosed)
	}
	s.mu.Unlock()
	s.working.Wait()
	if s.temporary {
		return os.RemoveAll(s.config.Dir)
	}
	return nil
}

// Start starts a run. What makes no sense is invalid, a server that trains
// enough already exhausted.
func (s *Runs) Start(owner string, start Start) (*Run, error) {
	spec, config, err := start.config(s.config.Specs)
	if err != nil {
		return nil, err
	}
	trainer, err := train.New(spec, config)
	if err != nil {
		return nil, err
	}
	id := s.config.NewID()
	run := &Run{dir: filepath.Join(s.config.Dir, id), feed: &feed.Feed{},
		state: State{ID: id, State: Running, Config: trainer.Config(), Created: s.config.Now().UTC(), Owner: owner}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(owner); err != nil {
		return nil, err
	}
	own := 0
	for _, other := range s.byID {
		if other.State().Owner == owner {
			own++
		}
	}
	if err := s.config.Kept.Check("kept runs", int64(len(s.byID)), int64(own), 1); err != nil {
		return nil, err
	}
	if err := s.found(run, trainer); err != nil {
		return nil, errors.Join(err, os.RemoveAll(run.dir)) // after which it is as if it had not been asked for
	}
	s.byID[id] = run
	return run, nil
}

// found makes the folder of a run with its first checkpoint, and launches it.
// Called with mu held.
func (s *Runs) found(run *Run, trainer *train.Trainer) error {
	if err := os.MkdirAll(run.dir, 0o750); err != nil {
		return fmt.Errorf("making the folder of a run: %w", err)
	}
	if err := run.keep(run.state); err != nil {
		return err
	}
	if err := trainer.Save(run.Checkpoint()); err != nil {
		return err
	}
	return s.launch(run, trainer)
}

// room reports that enough runs are under way, in all or of an owner. Called
// with mu held.
func (s *Runs) room(owner string) error {
	if s.closed {
		return &tools.Error{Code: tools.Unavailable, Message: "the server is shutting down"}
	}
	live := s.live()
	own := 0
	for _, run := range live {
		if run.State().Owner == owner {
			own++
		}
	}
	return s.config.Busy.Check("runs under way", int64(len(live)), int64(own), 1)
}

// launch lets a run train, from where the trainer stands: what its telemetry has
// beyond that is dropped. Called with mu held; Close waits for it.
func (s *Runs) launch(run *Run, trainer *train.Trainer) error {
	folder, err := telemetry.Open(run.dir, trainer.Updates(), s.config.Now)
	if err != nil {
		return err
	}
	if err := run.reread(); err != nil {
		return errors.Join(err, folder.Close())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan struct{})
	run.mu.Lock()
	run.cancel, run.ended, run.gate, run.state.State = cancel, ended, nil, Running
	run.mu.Unlock()
	goroutine.Go(&s.working, func() {
		defer close(ended)
		defer cancel(nil)
		err := s.train(ctx, run, trainer, folder)
		state := run.last(ctx, err)
		kept := s.persist(ctx, run, func() error { return run.keep(state) })
		run.end(state)
		if err := kept; err != nil {
			s.config.Logger.Error("a policy run's end is not kept", "run", run.State().ID, "error", err)
		}
		s.log("policy run", run, err)
	}, func(err error) { s.log("policy run ended by a panic", run, err) })
	return nil
}

// log logs how a run ended.
func (s *Runs) log(message string, run *Run, err error) {
	state, level := run.State(), slog.LevelInfo
	if state.State == Failed {
		level = slog.LevelError
	}
	s.config.Logger.LogAttrs(context.Background(), level, message, slog.String("run", state.ID), slog.String("state", state.State),
		slog.Int("updates", state.Updates), goroutine.Attr(err))
}

// Busy is how many runs train, or are held in memory.
func (s *Runs) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live())
}

// Updates is how many updates these have made.
func (s *Runs) Updates() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range s.live() {
		n += run.State().Updates
	}
	return n
}

// live lists the runs that are busy. Called with mu held.
func (s *Runs) live() (list []*Run) {
	for _, run := range s.byID {
		if run.busy() {
			list = append(list, run)
		}
	}
	return list
}

// Find finds a run; not_found when there is none.
func (s *Runs) Find(id string) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.byID[id]; run != nil {
		return run, nil
	}
	return nil, Missing(id)
}

// Missing is the error for a run that is not there. It tells of no other.
func Missing(id string) error {
	return &tools.Error{Code: tools.NotFound, Where: "id", Message: fmt.Sprintf("there is no policy run %.80q", id), Want: "one that GET /v1/policy/runs lists"}
}

// List lists the runs, the newest first.
func (s *Runs) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]State, 0, len(s.byID))
	for _, run := range s.byID {
		list = append(list, run.State())
	}
	slices.SortFunc(list, func(a, b State) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}
