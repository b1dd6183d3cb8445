package training

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"toolgym/api/feed"
	"toolgym/internal/atomicfile"
	"toolgym/internal/goroutine"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools"
)

// The states of a run.
const (
	Running   = "running"
	Paused    = "paused"
	Done      = "done"
	Cancelled = "cancelled"
	Failed    = "failed"
)

// CheckpointName is the file of the weights in a run's folder.
const CheckpointName = "policy.safetensors"

// A State is a run at a glance.
type State struct {
	ID      string        `json:"id"`
	State   string        `json:"state" enum:"running,paused,done,cancelled,failed"`
	Config  train.Config  `json:"config"`
	Created time.Time     `json:"created_at"`
	Updates int           `json:"updates" doc:"Made so far."`
	Result  *train.Result `json:"result,omitempty" doc:"Of a run that is done."`
	Error   string        `json:"error,omitempty" doc:"Why it failed, or why it is paused without a request: the disk is full."`
	Owner   string        `json:"owner,omitempty" doc:"The token that it belongs to."`
}

// A Run is one training. It may be used by many goroutines.
type Run struct {
	dir  string
	feed *feed.Feed // of records; the end is that of the run, in this process

	mu      sync.Mutex
	state   State
	records []telemetry.Record
	gate    chan struct{} // closed to go on; nil while the run is not held
	stalled chan struct{} // closed to write again; nil unless the disk is full
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the goroutine has ended; nil without one
}

// errCancelled and errClosed are why a run's context ends.
type stopped string

func (s stopped) Error() string { return string(s) }

const (
	errCancelled = stopped("the run was cancelled")
	errClosed    = stopped("the server ended")
)

// State is how the run stands.
func (r *Run) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Records are the telemetry so far.
func (r *Run) Records() []telemetry.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.records)
}

// Events is the telemetry as it comes, an event of JSON each.
func (r *Run) Events() *feed.Feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.feed
}

// Export writes all that the run's folder holds, as a tar archive. A run that is
// under way is a conflict: its files grow.
func (r *Run) Export(w io.Writer) error {
	if r.busy() {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.conflict("a run that has ended")
	}
	archive := tar.NewWriter(w)
	if err := errors.Join(archive.AddFS(os.DirFS(r.dir)), archive.Close()); err != nil {
		return fmt.Errorf("exporting a run: %w", err)
	}
	return nil
}

// Checkpoint is the file of the weights, as they were saved last.
func (r *Run) Checkpoint() string { return filepath.Join(r.dir, CheckpointName) }

// train trains until the run ends one way or the other.
func (s *Runs) train(ctx context.Context, r *Run, trainer *train.Trainer, folder *telemetry.Folder) error {
	var result train.Result
	err := goroutine.Run(func() (err error) {
		result, err = trainer.Run(ctx, train.Options{Checkpoint: r.Checkpoint(), Now: s.config.Now, CPU: train.CPUTime,
			Save: func(write func() error) error {
				return s.persist(ctx, r, func() error {
					if err := folder.Flush(); err != nil { // the telemetry is never behind the checkpoint
						return err
					}
					return write()
				})
			},
			Observe: func(record telemetry.Record) error { return s.observe(ctx, r, folder, record) }})
		if err != nil {
			return err
		}
		return s.persist(ctx, r, folder.Draw)
	})
	err = errors.Join(err, folder.Close())
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.state.Result = &result
	}
	return err
}

// reread takes over the records that the folder kept: those up to the
// checkpoint, from which the run goes on.
func (r *Run) reread() error {
	records, err := telemetry.ReadFolder(r.dir)
	if err != nil {
		return err
	}
	events := &feed.Feed{}
	for _, record := range records {
		text, err := json.Marshal(record)
		if err != nil {
			return fmt.Errorf("encoding a record: %w", err)
		}
		events.Add(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records, r.feed, r.state.Updates = records, events, len(records)
	return nil
}

// observe keeps a record, tells those who watch, and waits while the run is held.
func (s *Runs) observe(ctx context.Context, r *Run, folder *telemetry.Folder, record telemetry.Record) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding a record: %w", err)
	}
	write := func() error { return folder.Write(record) }
	if err := s.persist(ctx, r, func() error {
		err := write()
		write = folder.Flush // the record is in the folder's buffer
		return err
	}); err != nil {
		return err
	}
	gate := r.add(record, text)
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
	case <-ctx.Done(): // the trainer sees it before its next update
	}
	return nil
}

// add adds a record, and returns what holds the run, or nil.
func (r *Run) add(record telemetry.Record, text []byte) (gate chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, record)
	r.state.Updates = len(r.records)
	r.feed.Add(text)
	return r.gate
}

// reason is an error as a client may see it: where the server keeps things is
// for its log.
func reason(err error) string {
	if atomicfile.IsFull(err) {
		return "the disk of the server is full"
	}
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return e.Error()
	}
	return "the server could not go on; its log says why"
}

// last is the state of a run that ended with an error, or nil.
func (r *Run) last(ctx context.Context, err error) State {
	state := r.State()
	state.Error = ""
	switch cause := context.Cause(ctx); {
	case err == nil:
		state.State = Done
	case errors.Is(cause, errClosed):
		state.State = Paused
	case errors.Is(cause, errCancelled):
		state.State = Cancelled
	default:
		state.State, state.Error = Failed, reason(err)
	}
	return state
}

// end notes how the run ended.
func (r *Run) end(state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.gate, r.stalled = state, nil, nil
	r.feed.Close()
}
