package api

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolgym/internal/quota"
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
