package turns

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolgym/tools"
)

// restTimes is how many times as long as a turn took its token rests after it,
// while light requests are being answered; mostRest bounds that.
const (
	restTimes = 4
	mostRest  = 5 * time.Second
)

// A Queue bounds the requests that compute at the same time, so that they leave
// processors to the light ones. While
// light requests are being answered, a token whose turn has ended rests, in
// proportion to the time that the turn took, and the turns of other tokens go
// first. A server without light requests computes without rests.
//
// Tokens that wait get their turns one after the other, however many requests
// each of them has waiting.
type Queue struct {
	places int
	light  atomic.Int64

	mu      sync.Mutex
	taken   int
	used    map[string]int     // places of a token that are taken or rest
	waiting map[string][]*Turn // by token, the longest waiting first
	order   []string           // tokens with waiting requests; the next one is first
}

// A Turn is one request's. Its methods are for one goroutine; a nil Turn needs
// no turn.
type Turn struct {
	queue   *Queue
	owner   string
	most    time.Duration // that it waits
	granted chan struct{} // closed when it may begin
	began   time.Time
	held    bool
}

// New returns a queue for so many requests at the same time.
func New(places int) *Queue {
	return &Queue{places: places, used: map[string]int{}, waiting: map[string][]*Turn{}}
}

// Turn returns a turn of an owner, which waits at most for so long.
func (q *Queue) Turn(owner string, most time.Duration) *Turn {
	return &Turn{queue: q, owner: owner, most: most}
}

// Light counts a light request until done is called.
func (q *Queue) Light() (done func()) {
	q.light.Add(1)
	return func() { q.light.Add(-1) }
}

// Begin waits for the turn. It does nothing where that has begun. The error is
// the context's, or an exhausted [*tools.Error] where the wait took too long.
func (t *Turn) Begin(asked context.Context) error {
	if t == nil || t.held {
		return nil
	}
	ctx, cancel := context.WithTimeout(asked, t.most)
	defer cancel()
	t.granted = make(chan struct{})
	t.queue.enter(t)
	select {
	case <-t.granted:
		t.held, t.began = true, time.Now()
		return nil
	case <-ctx.Done():
	}
	if !t.queue.withdraw(t) { // it was granted meanwhile
		t.held, t.began = true, time.Now()
		t.End()
	}
	if asked.Err() != nil {
		return fmt.Errorf("waiting for a turn: %w", asked.Err())
	}
	return &tools.Error{Code: tools.Exhausted, Message: "too much is being computed", Want: "fewer requests at the same time; retry later"}
}

// End gives the place to the next request, of the same token after a rest. It
// may be called again, and for a turn that did not begin.
func (t *Turn) End() {
	if t == nil || !t.held {
		return
	}
	t.held = false
	rest := restAfter(time.Since(t.began), t.queue.light.Load(), t.queue.places)
	t.queue.leave(t.owner, rest == 0)
	if rest > 0 {
		time.AfterFunc(rest, func() { t.queue.rested(t.owner) })
	}
}

// restAfter is the rest after a turn: none while no light request is being
// answered, and restTimes as long as the turn when there are as many as
// processors, or more.
func restAfter(took time.Duration, light int64, places int) time.Duration {
	busy := min(1, float64(light)/float64(2*places))
	return min(mostRest, time.Duration(restTimes*busy*float64(took)))
}

// enter lets a turn wait, and grants it where there is room.
func (q *Queue) enter(t *Turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting[t.owner]) == 0 {
		q.order = append(q.order, t.owner)
	}
	q.waiting[t.owner] = append(q.waiting[t.owner], t)
	q.grant()
}

// leave hands a place on. Without a rest, the token may use it again.
func (q *Queue) leave(owner string, free bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	if free {
		q.free(owner)
	}
	q.grant()
}

// rested ends a rest of a token.
func (q *Queue) rested(owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(owner)
	q.grant()
}

// free is called with mu held, as are those that follow.
func (q *Queue) free(owner string) {
	if q.used[owner]--; q.used[owner] == 0 {
		delete(q.used, owner)
	}
}

// grant grants turns while there are places, to each token in turn.
func (q *Queue) grant() {
	for q.taken < q.places {
		at := slices.IndexFunc(q.order, func(owner string) bool { return q.used[owner] < q.places })
		if at < 0 {
			return
		}
		owner := q.order[at]
		q.order = slices.Delete(q.order, at, at+1)
		next := q.waiting[owner][0]
		q.remove(next)
		if len(q.waiting[owner]) > 0 {
			q.order = append(q.order, owner)
		}
		q.taken++
		q.used[owner]++
		close(next.granted)
	}
}

// withdraw takes a waiting turn out, and reports whether it still waited.
func (q *Queue) withdraw(t *Turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.waiting[t.owner], t) {
		return false
	}
	q.remove(t)
	if len(q.waiting[t.owner]) == 0 {
		q.order = slices.DeleteFunc(q.order, func(owner string) bool { return owner == t.owner })
	}
	return true
}

func (q *Queue) remove(t *Turn) {
	rest := slices.DeleteFunc(q.waiting[t.owner], func(other *Turn) bool { return other == t })
	if q.waiting[t.owner] = rest; len(rest) == 0 {
		delete(q.waiting, t.owner)
	}
}
