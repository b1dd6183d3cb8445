package eval

import (
	"encoding/json"
	"time"
)

// A Run is one evaluation: which model plays which tasks, how often, and how.
type Run struct {
	Name    string          `json:"run"`
	Created time.Time       `json:"created"`
	Model   string          `json:"model"`
	Digest  string          `json:"digest"` // of the model's weights and settings
	Routes  []string        `json:"routes"`
	Trials  int             `json:"trials"`            // of each task on each route
	Seed    uint64          `json:"seed"`              // of sampling in the first trial of a task; later trials count on
	Options json.RawMessage `json:"options"`           // what is sent to the server with each request
	Request json.RawMessage `json:"request,omitempty"` // what was asked for, to go on with the run
	Command []string        `json:"command,omitempty"`
	Tasks   []RunTask       `json:"tasks"`
}

// A RunTask is a task as the run's plan holds it.
type RunTask struct {
	ID       string          `json:"id"`
	Hash     string          `json:"hash"`     // of Document
	Document json.RawMessage `json:"document"` // prompt, tools and what is expected
}

// A Key names a trial within its run. Digest is the model's, so that results
// of another model behind the same name are never taken for this one's.
type Key struct {
	Route  string
	Digest string
	Task   string
	Trial  int
}

// A Record is all that one trial left behind, enough to grade it again without
// the model.
type Record struct {
	Trial
	Digest     string          `json:"digest"`
	Seed       int             `json:"seed"`
	Options    json.RawMessage `json:"options"`
	Server     string          `json:"server"` // its address
	Version    string          `json:"version,omitempty"`
	Template   string          `json:"template,omitempty"` // hash of the model's chat template
	Started    time.Time       `json:"started"`
	Transcript json.RawMessage `json:"transcript"`
}

// Key is the record's key.
func (r Record) Key() Key {
	return Key{Route: r.Route, Digest: r.Digest, Task: r.Task, Trial: r.Trial.Trial}
}
