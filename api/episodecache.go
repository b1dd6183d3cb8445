package api

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"toolgym/api/client"
	"toolgym/internal/quota"
	"toolgym/internal/store"
	"toolgym/tools"
)

// A table holds the live episodes, bounded in number, in memory and in age.
//
// Nothing runs in the background: every look into the table first gives up what
// has expired, and since every use grants the same time to live, the order of
// use is the order of expiry.
type table struct {
	idle time.Duration
	now  func() time.Time

	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // of *seat; the longest unused is in front
	made  uint64
	size  int64               // bytes of all steps, about
	gone  *quota.Ring[string] // ids of the latest episodes that have expired, to tell "expired" from "never was"
	over  []string            // given up since the ledger was last told
	owned map[string]usage    // by owner

	number quota.Limits // of episodes
	memory quota.Limits // of bytes
	equal  float64      // the part of each token if all had the same
}

// A usage is what an owner has in the table.
type usage struct{ episodes, bytes int64 }

// A seat is an episode's place in the table.
type seat struct {
	*episode
	number  uint64 // of creation, from 1
	expires time.Time
	size    int64
}

func newTable(c Config) *table {
	number := quota.Part(int64(c.MaxEpisodes), c.TokenShare)
	if c.TokenEpisodes > 0 {
		number.Each = int64(c.TokenEpisodes)
	}
	return &table{number: number, memory: quota.Part(c.MaxMemory, c.TokenShare), equal: 1 / float64(max(1, len(c.Tokens))),
		idle: c.IdleExpiry, now: c.Now, owned: map[string]usage{}, byID: map[string]*list.Element{}, order: list.New(), gone: quota.NewRing[string](4 * c.MaxEpisodes)}
}

// add takes an episode in, and numbers it. With the table full of live ones
// that is an [*tools.Error], exhausted, which passes when one ends or expires;
// one that has ended makes room.
func (t *table) add(e *episode) (number uint64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	if err := t.admit(e); err != nil {
		return 0, err
	}
	t.made++
	t.place(&seat{episode: e, number: t.made, expires: t.now().Add(t.idle), size: e.weight()})
	return t.made, nil
}

// restore takes in an episode that was kept and last used at the time. They
// come in the order of use.
func (t *table) restore(e *episode, number uint64, used time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.admit(e); err != nil {
		return err
	}
	t.place(&seat{episode: e, number: number, expires: used.Add(t.idle), size: e.weight()})
	return nil
}

// has reports whether an episode is in the table, whosesoever it is.
func (t *table) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id] != nil
}

// stands reports whether an episode is in the table, and whether it has ended.
func (t *table) stands(id string) (live, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	element := t.byID[id]
	return element != nil, element != nil && element.Value.(*seat).done()
}

// live is how many episodes are in the table.
func (t *table) live() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	return t.order.Len()
}

// bytes is what their steps take, about.
func (t *table) bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// takeOver hands over the ids that were given up since it was last called.
func (t *table) takeOver() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	ids := t.over
	t.over = nil
	return ids
}

// giveBack takes ids back that the ledger could not be told.
func (t *table) giveBack(ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = append(t.over, ids...)
}

// find looks an episode up: code gone when it has expired, not_found when there
// is none.
func (t *table) find(who caller, id string) (*episode, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	element, err := t.seek(who, id)
	if err != nil {
		return nil, err
	}
	return element.Value.(*seat).episode, nil
}

// use is find for a step: the episode's time to live begins anew, and there
// must be room for one step more.
func (t *table) use(who caller, id string) (*episode, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	element, err := t.seek(who, id)
	if err != nil {
		return nil, err
	}
	t.renew(element)
	e := element.Value.(*seat).episode
	if err := t.makeRoom(e.owner); err != nil {
		return nil, err
	}
	return e, nil
}

// used accounts for a step that has been made.
func (t *table) used(e *episode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	element := t.byID[e.id]
	if element == nil {
		return // it was removed meanwhile
	}
	t.renew(element)
	s := element.Value.(*seat)
	weight := e.weight()
	t.count(s.owner, usage{bytes: weight - s.size})
	s.size = weight
}

// discard forgets an episode at its owner's wish.
func (t *table) discard(e *episode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if element := t.byID[e.id]; element != nil {
		t.drop(element, notFound(e.id))
	}
}

// expiry is when an episode will be given up, unless it is used before.
func (t *table) expiry(id string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if element := t.byID[id]; element != nil {
		return element.Value.(*seat).expires
	}
	return t.now()
}

// page lists up to n of the caller's episodes that were made after the given number, oldest
// first.
func (t *table) page(who caller, after uint64, n int) []seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	var found []seat
	for element := t.order.Front(); element != nil; element = element.Next() {
		if s := element.Value.(*seat); s.number > after && who.owns(s.owner) {
			found = append(found, *s)
		}
	}
	slices.SortFunc(found, func(a, b seat) int { return cmp.Compare(a.number, b.number) })
	return found[:min(n, len(found))]
}

// What follows is called with mu held.

// admit reports why there is no room for an episode.
func (t *table) admit(e *episode) error {
	if t.byID[e.id] != nil || t.gone.Has(e.id) {
		return fmt.Errorf("the generator of ids made %q twice", e.id)
	}
	for {
		own := t.owned[e.owner]
		err := t.number.Check("live episodes", int64(t.order.Len()), own.episodes, 1)
		if err == nil {
			return t.makeRoom(e.owner)
		}
		if !t.dropEnded(e.owner, err) {
			return t.later(err)
		}
	}
}

func (t *table) place(s *seat) {
	t.byID[s.id] = t.order.PushBack(s)
	t.count(s.owner, usage{1, s.size})
}

// count adds to what an owner has.
func (t *table) count(owner string, more usage) {
	t.size += more.bytes
	own := t.owned[owner]
	own.episodes, own.bytes = own.episodes+more.episodes, own.bytes+more.bytes
	if t.owned[owner] = own; own.episodes == 0 {
		delete(t.owned, owner)
	}
}

// seek finds an episode of the caller's. Of other people's nothing is said.
func (t *table) seek(who caller, id string) (*list.Element, error) {
	t.expire()
	if element := t.byID[id]; element != nil {
		if !who.owns(element.Value.(*seat).owner) {
			return nil, notFound(id)
		}
		return element, nil
	}
	if t.gone.Has(id) {
		return nil, expired(id)
	}
	return nil, notFound(id)
}

func (t *table) renew(element *list.Element) {
	element.Value.(*seat).expires = t.now().Add(t.idle)
	t.order.MoveToBack(element)
}

// expire gives up the episodes whose time is over.
func (t *table) expire() {
	now := t.now()
	for element := t.order.Front(); element != nil && !element.Value.(*seat).expires.After(now); element = t.order.Front() {
		t.bury(element)
	}
}

// makeRoom keeps the steps within the memory, at the cost of ended episodes.
// There is room for a step while the memory is not full, whatever it weighs.
func (t *table) makeRoom(owner string) error {
	for {
		err := t.memory.Check("bytes of trajectories", t.size, t.owned[owner].bytes, 1)
		if err == nil {
			return nil
		}
		if !t.dropEnded(owner, err) {
			return t.later(err)
		}
	}
}

// dropEnded gives up the longest unused episode that has ended: one of the
// owner's or, if the table is full for all owners, one of an owner who has more
// than an equal part of it while this one has less. So a client that fills the
// table never ends what belongs to a client that does not.
func (t *table) dropEnded(owner string, why error) bool {
	_, share := errors.AsType[*quota.ShareError](why)
	var other *list.Element
	for element := t.order.Front(); element != nil; element = element.Next() {
		switch s := element.Value.(*seat); {
		case !s.done():
		case s.owner == owner:
			t.bury(element)
			return true
		case other == nil && !share && t.above(s.owner) && !t.above(owner):
			other = element
		}
	}
	if other != nil {
		t.bury(other)
	}
	return other != nil
}

// above reports whether an owner has more than an equal part of the table.
func (t *table) above(owner string) bool {
	own := t.owned[owner]
	return float64(own.episodes) > t.equal*float64(t.number.All) || float64(own.bytes) > t.equal*float64(t.memory.All)
}

func (t *table) bury(element *list.Element) {
	id := element.Value.(*seat).id
	t.gone.Add(element.Value.(*seat).owner, id)
	t.over = append(t.over, id)
	t.drop(element, expired(id))
}

func (t *table) drop(element *list.Element, why error) {
	s := t.order.Remove(element).(*seat)
	delete(t.byID, s.id)
	t.count(s.owner, usage{-1, -s.size})
	s.close(why)
}

// later adds to an error when there may be room.
func (t *table) later(err error) error {
	wait := time.Second
	if front := t.order.Front(); front != nil {
		wait = min(max(wait, front.Value.(*seat).expires.Sub(t.now())), time.Minute)
	}
	return &busy{err, wait}
}

func notFound(id string) error {
	return &tools.Error{Code: tools.NotFound, Where: "id", Message: fmt.Sprintf("there is no episode %.80q", id)}
}

func expired(id string) error {
	return &tools.Error{Code: tools.Gone, Where: "id", Message: fmt.Sprintf("the episode %.80q has expired", id), Want: "a new one"}
}

// An episode is a live one: its task, its steps so far, and an Env that has
// made them. The steps are the truth; the Env can be made again from them at
// any time, and is, whenever a step did not end well.
type episode struct {
	id       string
	owner    string // name of the token that it belongs to; empty without tokens
	begun    time.Time
	spec     tools.Spec
	task     tools.Task
	maxSteps int
	ledger   *ledger

	// turn holds one token. Its holder may use env and add a step;
	// no lock is held while a slow environment works.
	turn chan struct{}
	env  tools.Env // nil when it has to be made again
	torn bool      // the ledger may know more than path does

	mu       sync.Mutex // guards what follows, for moments only
	path     tools.Trajectory
	tools    tools.Set
	answered map[string]int // request id → number of its step
	closed   error          // why no further step is taken
	size     int64          // bytes that the steps take, about
}

// A move is what the agent does: a call, or a message where the call is zero.
type move struct {
	call    tools.Call
	message string
	request string // the request id; may be empty
}

// begin starts the episode with the given moves behind it; a fork has some, and
// one that is brought back.
func (e *episode) begin(ctx context.Context, moves []store.Move) error {
	e.turn, e.answered = make(chan struct{}, 1), map[string]int{}
	e.path = tools.Trajectory{Task: e.task, Steps: []tools.Step{}}
	env, observation, err := e.replay(ctx, stepsOf(moves))
	if err != nil {
		return err
	}
	e.env, e.path.Observation, e.tools, e.path.Success = env, observation, nonNil(env.Tools()), env.Success()
	for _, m := range moves {
		e.keep(m, env.Success())
	}
	return nil
}

func stepsOf(moves []store.Move) []tools.Step {
	steps := make([]tools.Step, len(moves))
	for i, m := range moves {
		steps[i] = m.Step
	}
	return steps
}

// replay makes an Env that has made the given steps. The same task and the same
// calls give the same steps; an environment that does otherwise is at fault.
func (e *episode) replay(ctx context.Context, steps []tools.Step) (tools.Env, json.RawMessage, error) {
	env := e.spec.New()
	observation, err := env.Reset(ctx, e.task)
	if err != nil {
		return nil, nil, fmt.Errorf("resetting %s to %s: %w", e.spec.Name, e.task.ID, err)
	}
	for i, want := range steps {
		got, err := e.advance(ctx, env, i, move{call: want.Call, message: want.Message})
		if err != nil {
			return nil, nil, fmt.Errorf("replaying step %d of %s: %w", i+1, e.task.ID, err)
		}
		if !reflect.DeepEqual(got, want) {
			return nil, nil, fmt.Errorf("replaying step %d of %s gave another step than before", i+1, e.task.ID)
		}
	}
	return env, observation, nil
}

// advance makes one step, the one after made others. What was done is what was
// asked for, whatever the environment writes there.
func (e *episode) advance(ctx context.Context, env tools.Env, made int, m move) (tools.Step, error) {
	step, err := apply(ctx, env, m)
	if err != nil {
		return tools.Step{}, err
	}
	if made+1 >= e.maxSteps && !step.Done() {
		step = tools.Truncation(step.Call, step.Result, step.Reward)
	}
	step.Call, step.Message = m.call, m.message
	return step, nil
}

// apply hands a move to the environment. What is said to one that does not
// judge it is recorded and changes nothing, as tools.Rollout has it.
func apply(ctx context.Context, env tools.Env, m move) (tools.Step, error) {
	if m.call.Name != "" {
		return env.Step(ctx, m.call)
	}
	if speaker, ok := env.(tools.Speaker); ok {
		return speaker.Say(ctx, m.message)
	}
	return tools.Transition(tools.Call{}, tools.Result{}, 0).Spoken(m.message), nil
}

// play makes a move, once: a request id that has been answered is answered
// again. A move that has begun is finished even when the client hangs up.
func (e *episode) play(ctx context.Context, m move, limit time.Duration) (client.Answer, error) {
	running, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer stop()
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return client.Answer{}, fmt.Errorf("waiting for the call before this one: %w", ctx.Err())
	case <-running.Done():
		return client.Answer{}, fmt.Errorf("waiting for the call before this one: %w", running.Err())
	}
	if err := e.mend(running); err != nil {
		return client.Answer{}, err
	}
	if answer, known, err := e.recall(m); known || err != nil {
		return answer, err
	}
	return e.step(running, m)
}

// recall answers a request id that is known, and refuses a move that may not be
// made.
func (e *episode) recall(m move) (answer client.Answer, known bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.answered[m.request]; ok && m.request != "" {
		if !same(e.path.Steps[n-1], m) {
			return client.Answer{}, true, &tools.Error{Code: tools.Conflict, Where: "request_id", Message: fmt.Sprintf("this request_id was another call, step %d", n), Want: "a new request_id for a new call"}
		}
		return answerOf(e.path.Steps[n-1], n), true, nil
	}
	switch {
	case e.closed != nil:
		return client.Answer{}, false, e.closed
	case e.path.Terminated || e.path.Truncated:
		return client.Answer{}, false, &tools.Error{Code: tools.Conflict, Message: fmt.Sprintf("the episode ended with step %d", len(e.path.Steps)), Want: "a new episode"}
	}
	return client.Answer{}, false, nil
}

// mend reads the moves again after one that may or may not have been kept.
func (e *episode) mend(ctx context.Context) error {
	if !e.torn {
		return nil
	}
	kept, err := e.ledger.read(ctx, e.id)
	if err != nil {
		return err
	}
	again := &episode{id: e.id, spec: e.spec, task: e.task, maxSteps: e.maxSteps}
	if err := again.begin(ctx, kept.Moves); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.env, e.path, e.answered, e.size, e.torn = again.env, again.path, again.answered, again.size, false
	return nil
}

// step makes the move. The Env is put back only after a step that ended well;
// after an error, a panic or a time-out nothing is known of its state. The step
// counts when the ledger has it.
func (e *episode) step(ctx context.Context, m move) (client.Answer, error) {
	env, made := e.env, e.steps()
	e.env = nil
	if env == nil {
		var err error
		if env, _, err = e.replay(ctx, made); err != nil {
			return client.Answer{}, err
		}
	}
	step, err := e.advance(ctx, env, len(made), m)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return client.Answer{}, fmt.Errorf("stepping %s: %w", e.task.ID, err)
	}
	move := store.Move{Step: step, Request: m.request, Made: e.ledger.now()}
	if err := e.ledger.add(ctx, e.id, len(made)+1, move); err != nil {
		e.torn = true
		return client.Answer{}, err
	}
	e.env = env
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(move, env.Success())
	return answerOf(step, len(e.path.Steps)), nil
}

// keep adds a move. The caller holds mu, or is the only one who knows e.
func (e *episode) keep(m store.Move, success bool) {
	step := m.Step
	e.path.Steps = append(e.path.Steps, step)
	if m.Request != "" {
		e.answered[m.Request] = len(e.path.Steps)
	}
	e.path.Return += step.Reward
	e.path.Terminated, e.path.Truncated, e.path.Success = step.Terminated, step.Truncated, success
	const overhead = 256 // of a Step, its slices and a request id
	e.size += int64(overhead + len(step.Call.Name) + len(step.Call.Arguments) + len(step.Message) + len(step.Result.Content))
}

// trajectory is the path so far. Steps are only ever added, so that those of
// the copy may be read without the lock.
func (e *episode) trajectory() tools.Trajectory {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := e.path
	path.Steps = slices.Clip(path.Steps)
	return path
}

func (e *episode) steps() []tools.Step { return e.trajectory().Steps }

// close says why no further step is taken. One that is running is finished.
func (e *episode) close(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = why
}

// weight is about how many bytes the steps take.
func (e *episode) weight() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.size
}

// done reports whether the episode has come to its end.
func (e *episode) done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.path.Terminated || e.path.Truncated
}

// same reports whether a move is the one that a step was made by; blanks in
// the arguments do not matter.
func same(step tools.Step, m move) bool {
	if step.Call.Name != m.call.Name || step.Message != m.message {
		return false
	}
	return bytes.Equal(compact(step.Call.Arguments), compact(m.call.Arguments))
}

func compact(arguments json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, arguments) != nil {
		return arguments
	}
	return b.Bytes()
}

func answerOf(step tools.Step, n int) client.Answer {
	answer := client.Answer{Reward: step.Reward, Terminated: step.Terminated, Truncated: step.Truncated, Step: n}
	if step.Call.Name != "" {
		answer.Result = &step.Result
	}
	return answer
}
