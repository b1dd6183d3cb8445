package training

import (
	"errors"
	"fmt"
	"os"

	"toolgym/policy/train"
	"toolgym/tools"
)

// busy reports whether the run trains, or is held in memory.
func (r *Run) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.ended:
		return false
	default:
		return r.ended != nil
	}
}

// stop ends the run's goroutine, if it has one, for the given reason.
func (r *Run) stop(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel(why)
	}
}

func (r *Run) conflict(want string) error {
	return &tools.Error{Code: tools.Conflict, Message: "the run is " + r.state.State, Want: want}
}

// Hold makes a run wait at the end of the update that it is at.
func (r *Run) Hold() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.State != Running {
		return r.conflict("a run that is running")
	}
	r.gate, r.state.State = make(chan struct{}), Paused
	return nil
}

// Release lets a paused run continue: in memory, or from its checkpoint.
func (s *Runs) Release(r *Run) error {
	if r.release() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[r.state.ID] != r { // deleted meanwhile
		return Missing(r.state.ID)
	}
	if state := r.State(); state.State != Paused || r.busy() {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.conflict("a run that is paused")
	}
	if err := s.room(r.State().Owner); err != nil {
		return err
	}
	trainer, err := train.Resume(s.config.Specs, r.Checkpoint(), 0)
	if err != nil {
		return unusable(err)
	}
	return s.launch(r, trainer)
}

// unusable is the refusal to resume a run whose checkpoint is damaged. The error
// of the checkpoint has its path, which is not for clients.
func unusable(err error) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	return &tools.Error{Code: tools.Conflict, Where: "id", Message: "the checkpoint of the run cannot be used: " + e.Message, Want: "a new run"}
}

// release opens the gate of a run that is held in memory.
func (r *Run) release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.State != Paused || r.gate == nil && r.stalled == nil {
		return false
	}
	for _, c := range []chan struct{}{r.gate, r.stalled} {
		if c != nil {
			close(c)
		}
	}
	r.gate, r.stalled, r.state.State, r.state.Error = nil, nil, Running, ""
	return true
}

// finish cancels a run that is under way, waits until it has ended, and reports
// whether it was under way.
func (r *Run) finish() bool {
	if !r.busy() {
		return false
	}
	r.mu.Lock()
	ended := r.ended
	r.cancel(errCancelled)
	r.mu.Unlock()
	<-ended
	return true
}

// Cancel ends a run that is under way and waits until it has ended. It stays, as
// cancelled; one that has ended is deleted, with all that it has made.
func (s *Runs) Cancel(r *Run) error {
	for !r.finish() {
		if deleted, err := s.delete(r); deleted || err != nil {
			return err
		}
	}
	return nil
}

// delete deletes a run, unless it was resumed meanwhile.
func (s *Runs) delete(r *Run) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.busy() {
		return false, nil
	}
	delete(s.byID, r.state.ID)
	if err := os.RemoveAll(r.dir); err != nil {
		return false, fmt.Errorf("deleting a run: %w", err)
	}
	return true, nil
}
