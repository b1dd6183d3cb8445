package eval

import (
	"slices"
	"sync"
)

// A job is a trial to be played.
type job struct {
	item     Item
	route    string
	trial    int
	attempts int // made so far
}

// A queue hands out jobs and takes back those that are to be repeated. It is
// over when every job is done, or when it is stopped.
type queue struct {
	lock    sync.Mutex
	changed *sync.Cond
	waiting []job
	out     int // handed out and neither done nor back
	budget  int // repetitions left
	stopped bool
	retry   Retry
}

func newQueue(jobs []job, retry Retry) *queue {
	q := &queue{waiting: jobs, budget: retry.Budget, retry: retry}
	q.changed = sync.NewCond(&q.lock)
	return q
}

// next waits for a job that one of the routes can play. It returns false when
// there will be none.
func (q *queue) next(plays func(route string) bool) (job, bool) {
	q.lock.Lock()
	defer q.lock.Unlock()
	for !q.stopped {
		for i, j := range q.waiting {
			if plays(j.route) {
				q.take(i)
				q.out++
				return j, true
			}
		}
		if len(q.waiting)+q.out == 0 {
			break
		}
		q.changed.Wait()
	}
	return job{}, false
}

// take removes the i-th job, nearly always the first.
func (q *queue) take(i int) {
	if i == 0 {
		q.waiting = q.waiting[1:]
		return
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// done says that a job needs no repetition.
func (q *queue) done() {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.out--
	q.changed.Broadcast()
}

// again puts a failed job behind the others, if it may be repeated.
func (q *queue) again(j job) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.stopped || q.budget == 0 || j.attempts >= q.retry.Attempts {
		return false
	}
	q.budget--
	q.out--
	q.waiting = append(q.waiting, j)
	q.changed.Broadcast()
	return true
}

func (q *queue) stop() {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}
