package assessment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"toolgym/api/feed"
	"toolgym/grpo/eval"
	"toolgym/internal/atomicfile"
	"toolgym/internal/evaluation"
	"toolgym/internal/goroutine"
	"toolgym/internal/quota"
	"toolgym/internal/refusal"
	"toolgym/internal/store"
	"toolgym/tools"
)

// The states of an evaluation.
const (
	Running = "running"
	Done    = "done"
	Stopped = "stopped" // cancelled, its server ended or the disk was full: it can be gone on with
	Failed  = "failed"
)

// A Config says where evaluations are kept and how many play at a time.
type Config struct {
	Room   evaluation.Room
	Busy   quota.Limits // of evaluations that play at the same time
	Kept   int          // evaluations of one token that are kept
	Logger *slog.Logger
}

// A State is an evaluation at a glance.
type State struct {
	store.Listing
	State   string        `json:"state" enum:"running,done,stopped,failed"`
	Error   string        `json:"error,omitempty" doc:"Why it failed, or why it was stopped without a request: the disk is full."`
	Summary *eval.Summary `json:"summary,omitempty" doc:"What its trials amount to so far, where it was asked for by name."`
}

// A Desk has evaluations under way. It may be used by many goroutines.
type Desk struct {
	config  Config
	working sync.WaitGroup

	mu     sync.Mutex
	byName map[string]*play // those of this process
	closed bool
}

// A play is one evaluation as it is played in this process.
type play struct {
	owner  string
	cancel context.CancelFunc
	feed   *feed.Feed
	ended  chan struct{}
	err    error // after ended is closed
}

func (p *play) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// New makes a desk with nothing under way.
func New(c Config) *Desk { return &Desk{config: c, byName: map[string]*play{}} }

// Close stops what is under way, and waits for it.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	for _, p := range d.byName {
		p.cancel()
	}
	d.mu.Unlock()
	d.working.Wait()
}

// Begin begins an evaluation, or goes on with one. The servers are asked first;
// what cannot be played is an [*tools.Error]. What makes no sense is refused
// before there being no room, since trying again later would not help.
func (d *Desk) Begin(ctx context.Context, request evaluation.Request) (State, error) {
	if !request.Resume { // otherwise the run that is gone on with completes it
		if err := request.WithDefaults().Validate(); err != nil {
			return State{}, err
		}
	}
	if err := d.room(ctx, request); err != nil {
		return State{}, err
	}
	e, err := d.config.Room.Open(ctx, request)
	if err != nil {
		return State{}, err
	}
	if err := d.launch(e, request.Owner); err != nil {
		return State{}, err
	}
	return d.Find(ctx, e.Run.Name)
}

// room reports that enough is under way, or that very evaluation, or that the
// token keeps enough evaluations. Those without an owner are not counted: the
// command line makes them in the same database.
func (d *Desk) room(ctx context.Context, request evaluation.Request) error {
	d.mu.Lock()
	err := d.full(request.Run, request.Owner)
	d.mu.Unlock()
	if err != nil || request.Owner == "" || request.Resume {
		return err
	}
	kept, err := d.config.Room.Store.Runs(ctx)
	if err != nil {
		return err
	}
	own := int64(0)
	for _, k := range kept {
		if k.Owner == request.Owner {
			own++
		}
	}
	return quota.Limits{All: int64(d.config.Kept), Each: int64(d.config.Kept)}.Check("kept evaluations of this token", own, own, 1)
}

// Busy is how many evaluations play.
func (d *Desk) Busy() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.byName {
		if p.running() {
			n++
		}
	}
	return n
}

// full is called with mu held.
func (d *Desk) full(name, owner string) error {
	busy, own := int64(0), int64(0)
	for other, p := range d.byName {
		if !p.running() {
			continue
		}
		if other == name {
			return &tools.Error{Code: tools.Conflict, Where: "run", Message: fmt.Sprintf("the evaluation %q is running", name), Want: "another name"}
		}
		busy++
		if p.owner == owner {
			own++
		}
	}
	if d.closed {
		return &tools.Error{Code: tools.Unavailable, Message: "the server is shutting down"}
	}
	return d.config.Busy.Check("evaluations under way", busy, own, 1)
}

// launch lets an evaluation play. Trials of an earlier start are told first.
func (d *Desk) launch(e *evaluation.Evaluation, owner string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.full(e.Run.Name, owner); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &play{owner: owner, cancel: cancel, feed: &feed.Feed{}, ended: make(chan struct{})}
	for _, trial := range e.Kept {
		p.tell(trial)
	}
	d.byName[e.Run.Name] = p
	goroutine.Go(&d.working, func() {
		defer p.feed.Close() // after ended: the last event has the final state
		defer close(p.ended)
		defer cancel()
		p.err = goroutine.Run(func() error { return e.Play(ctx, p.tell) })
		d.log("evaluation", e.Run.Name, p.err)
	}, func(err error) { d.log("evaluation ended by a panic", e.Run.Name, err) })
	return nil
}

// log logs how an evaluation ended.
func (d *Desk) log(message, run string, err error) {
	level := slog.LevelInfo
	if err != nil && !errors.Is(err, context.Canceled) {
		level = slog.LevelError
	}
	d.config.Logger.LogAttrs(context.Background(), level, message, slog.String("run", run), goroutine.Attr(err))
}

func (p *play) tell(trial eval.Trial) {
	if text, err := json.Marshal(trial); err == nil {
		p.feed.Add(text)
	}
}

// List lists all evaluations that are kept, the newest first.
func (d *Desk) List(ctx context.Context) ([]State, error) {
	kept, err := d.config.Room.Store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]State, len(kept))
	for i, k := range kept {
		list[i] = d.state(k)
	}
	return list, nil
}

// Find finds an evaluation, with what its trials amount to; not_found when there
// is none.
func (d *Desk) Find(ctx context.Context, name string) (State, error) {
	kept, err := d.config.Room.Store.Runs(ctx)
	if err != nil {
		return State{}, err
	}
	for _, k := range kept {
		if k.Name != name {
			continue
		}
		state := d.state(k)
		summary, err := d.config.Room.Summary(ctx, name)
		if err != nil {
			return State{}, err
		}
		state.Summary = &summary
		return state, nil
	}
	return State{}, Missing(name)
}

// Owner is whom an evaluation belongs to; not_found when there is none.
func (d *Desk) Owner(ctx context.Context, name string) (string, error) {
	owner, err := d.config.Room.Store.Owner(ctx, name)
	if refusal.Is(err, tools.NotFound) {
		return "", Missing(name)
	}
	return owner, err
}

// Missing is the error for an evaluation that is not there. It tells of no other.
func Missing(name string) error {
	return &tools.Error{Code: tools.NotFound, Where: "id", Message: fmt.Sprintf("there is no evaluation %.80q", name), Want: "one that GET /v1/evals lists"}
}

// state tells from what is kept, and from what plays, how an evaluation stands.
func (d *Desk) state(kept store.Listing) State {
	d.mu.Lock()
	p := d.byName[kept.Name]
	d.mu.Unlock()
	state := State{Listing: kept, State: Stopped}
	state.Tasks = []eval.RunTask{} // a list of runs is without them; an export has them
	switch {
	case p != nil && p.running():
		state.State = Running
	case kept.Kept >= kept.Planned:
		state.State = Done
	case p != nil && atomicfile.IsFull(p.err):
		state.Error = "the disk of the server is full" // Stopped: it can be resumed when there is space
	case p != nil && p.err != nil && !errors.Is(p.err, context.Canceled):
		state.State, state.Error = Failed, reason(p.err)
	}
	return state
}

// reason is an error as a client may see it.
func reason(err error) string {
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return e.Error()
	}
	return "the server could not go on; its log says why"
}

// Events is the trials of an evaluation as they come, an event of JSON each: of
// one that does not play, those that are kept.
func (d *Desk) Events(ctx context.Context, name string) (*feed.Feed, error) {
	d.mu.Lock()
	p := d.byName[name]
	d.mu.Unlock()
	if p != nil {
		return p.feed, nil
	}
	trials, err := d.config.Room.Store.Trials(ctx, name)
	if err != nil {
		return nil, err
	}
	past := &play{feed: &feed.Feed{}}
	for _, trial := range trials {
		past.tell(trial)
	}
	past.feed.Close()
	return past.feed, nil
}

// Stop stops an evaluation, and says whether it was under way. What was played
// is kept, and it can be gone on with.
func (d *Desk) Stop(name string) bool {
	d.mu.Lock()
	p := d.byName[name]
	d.mu.Unlock()
	if p == nil || !p.running() {
		return false
	}
	p.cancel()
	<-p.ended
	return true
}

// Cancel stops an evaluation that is under way, and deletes one that is not.
func (d *Desk) Cancel(ctx context.Context, name string) error {
	if d.Stop(name) {
		return nil
	}
	if err := d.config.Room.Store.Delete(ctx, name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byName, name)
	return nil
}
