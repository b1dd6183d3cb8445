package api

import (
	"cmp"
	"container/list"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolgym/tools"
)

// A table holds the live episodes, bounded in number, in memory and in age.
//
// Nothing runs in the background: every look into the table first gives up what
// has expired, and since every use grants the same time to live, the order of
// use is the order of expiry.
type table struct {
	limit  int
	memory int64
	idle   time.Duration
	now    func() time.Time

	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // of *seat; the longest unused is in front
	made  uint64
	size  int64 // bytes of all steps, about
	gone  graves
	over  []string       // given up since the ledger was last told
	owned map[string]int // episodes by owner
	share int            // of one owner at most
}

// A seat is an episode's place in the table.
type seat struct {
	*episode
	number  uint64 // of creation, from 1
	expires time.Time
	size    int64
}

func newTable(c Config) *table {
	return &table{limit: c.MaxEpisodes, memory: c.MaxMemory, idle: c.IdleExpiry, now: c.Now, share: c.TokenEpisodes, owned: map[string]int{},
		byID: map[string]*list.Element{}, order: list.New(), gone: newGraves(4 * c.MaxEpisodes)}
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

// count is how many episodes are in the table.
func (t *table) count() int {
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
	if err := t.makeRoom(); err != nil {
		return nil, err
	}
	return element.Value.(*seat).episode, nil
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
	t.size += weight - s.size
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
	if t.byID[e.id] != nil || t.gone.has(e.id) {
		return fmt.Errorf("the generator of ids made %q twice", e.id)
	}
	if t.order.Len() >= t.limit && !t.dropEnded("") {
		return t.full(fmt.Sprintf("%d episodes are live, which is the limit", t.limit))
	}
	if t.owned[e.owner] >= t.share && !t.dropEnded(e.owner) {
		return t.full(fmt.Sprintf("%d episodes of this token are live, which is its share", t.share))
	}
	return t.makeRoom()
}

func (t *table) place(s *seat) {
	t.byID[s.id] = t.order.PushBack(s)
	t.size += s.size
	t.owned[s.owner]++
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
	if t.gone.has(id) {
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
func (t *table) makeRoom() error {
	for t.size >= t.memory {
		if !t.dropEnded("") {
			return t.full("the trajectories of the live episodes take all the memory they may")
		}
	}
	return nil
}

// dropEnded gives up the longest unused of the episodes that have ended: of one
// owner's or, where that is empty, of all.
func (t *table) dropEnded(owner string) bool {
	for element := t.order.Front(); element != nil; element = element.Next() {
		if s := element.Value.(*seat); s.done() && (owner == "" || s.owner == owner) {
			t.bury(element)
			return true
		}
	}
	return false
}

func (t *table) bury(element *list.Element) {
	id := element.Value.(*seat).id
	t.gone.add(id)
	t.over = append(t.over, id)
	t.drop(element, expired(id))
}

func (t *table) drop(element *list.Element, why error) {
	s := t.order.Remove(element).(*seat)
	delete(t.byID, s.id)
	t.size -= s.size
	if t.owned[s.owner]--; t.owned[s.owner] == 0 {
		delete(t.owned, s.owner)
	}
	s.close(why)
}

// full says that there is no room, and when some may come free.
func (t *table) full(message string) error {
	wait := time.Second
	if front := t.order.Front(); front != nil {
		wait = min(max(wait, front.Value.(*seat).expires.Sub(t.now())), time.Minute)
	}
	return &busy{&tools.Error{Code: tools.Exhausted, Message: message, Want: "that episodes be ended or deleted first"}, wait}
}

func notFound(id string) error {
	return &tools.Error{Code: tools.NotFound, Where: "id", Message: fmt.Sprintf("there is no episode %.80q", id)}
}

func expired(id string) error {
	return &tools.Error{Code: tools.Gone, Where: "id", Message: fmt.Sprintf("the episode %.80q has expired", id), Want: "a new one"}
}

// graves hold the ids of the latest episodes that have expired, to tell
// "expired" from "never was".
type graves struct {
	ids  map[string]bool
	ring []string
	next int
}

func newGraves(n int) graves { return graves{ids: map[string]bool{}, ring: make([]string, n)} }

func (g *graves) has(id string) bool { return g.ids[id] }

func (g *graves) add(id string) {
	delete(g.ids, g.ring[g.next])
	g.ring[g.next], g.ids[id] = id, true
	g.next = (g.next + 1) % len(g.ring)
}
