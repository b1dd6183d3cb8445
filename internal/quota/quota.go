package quota

import (
	"fmt"
	"sync"

	"toolgym/tools"
)

// Limits are the bounds of a resource: All for all owners together, Each for
// one owner.
type Limits struct{ All, Each int64 }

// Part returns the limits for a number of units of which each owner may use a
// part, at least one unit.
func Part(all int64, part float64) Limits {
	return Limits{All: all, Each: min(all, max(1, int64(float64(all)*part)))}
}

// A ShareError reports that an owner uses its own share. Others may still use
// the resource. It unwraps to an [*tools.Error] with code exhausted.
type ShareError struct{ Err *tools.Error }

var _ error = (*ShareError)(nil)

// Error returns the message of the *[tools.Error].
func (e *ShareError) Error() string { return e.Err.Error() }

// Unwrap returns the *[tools.Error].
func (e *ShareError) Unwrap() error { return e.Err }

// Check reports whether n units more fit, when used are in use and own of them
// by the owner who asks: a *[ShareError] if that owner's share is used, a
// *[tools.Error] with code exhausted if there is no room for anyone. The first
// use of a resource, and an owner's first, may be larger than the limit: to wait
// would not help.
func (l Limits) Check(what string, used, own, n int64) error {
	if l.Each < l.All && own > 0 && own+n > l.Each {
		return &ShareError{Exhausted(fmt.Sprintf("the share of one token is reached: %d of %d %s", l.Each, l.All, what))}
	}
	if used > 0 && used+n > l.All {
		return Exhausted(fmt.Sprintf("the limit is reached: %d %s", l.All, what))
	}
	return nil
}

// Exhausted returns the error for a bounded resource without room.
func Exhausted(message string) *tools.Error {
	return &tools.Error{Code: tools.Exhausted, Message: message, Want: "fewer at the same time; retry later"}
}

// A Quota counts what is in use. It is safe for concurrent use.
type Quota struct {
	what   string
	limits Limits

	mu    sync.Mutex
	used  int64
	owned map[string]int64
}

// New returns a quota of which nothing is in use. What names the units, in the
// plural, for error messages.
func New(what string, limits Limits) *Quota {
	return &Quota{what: what, limits: limits, owned: map[string]int64{}}
}

// Take takes n units for an owner until release is called, or returns the
// error of [Limits.Check]. Release may be called again; only the first call
// counts.
func (q *Quota) Take(owner string, n int64) (release func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.limits.Check(q.what, q.used, q.owned[owner], n); err != nil {
		return nil, err
	}
	q.add(owner, n)
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.add(owner, -n)
	}), nil
}

// Grow takes n units more for a use that has held units already, until
// [Quota.Give]. Limits apply as if the use took all of its units now.
func (q *Quota) Grow(owner string, held, n int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.limits.Check(q.what, q.used-held, q.owned[owner]-held, held+n); err != nil {
		return err
	}
	q.add(owner, n)
	return nil
}

// Give returns n units that Grow took.
func (q *Quota) Give(owner string, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(owner, -n)
}

// Check reports the error that Take would return, and takes nothing.
func (q *Quota) Check(owner string, n int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.limits.Check(q.what, q.used, q.owned[owner], n)
}

// Used returns how many units are in use.
func (q *Quota) Used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used
}

// add is called with mu held.
func (q *Quota) add(owner string, n int64) {
	q.used += n
	if q.owned[owner] += n; q.owned[owner] == 0 {
		delete(q.owned, owner)
	}
}
