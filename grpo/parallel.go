package grpo

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"toolgym/internal/goroutine"
)

const (
	// shareOut is how many pieces of work one goroutine is started for.
	shareOut = 16
	// shortRun and longRun bound how many neighbours one goroutine takes at a
	// time: what they write lies side by side, and two cores that write there
	// hinder each other.
	shortRun, longRun = 8, 64
)

// runLength is long where there is so much work that all get their share of it
// all the same.
func runLength(n, goroutines int) int64 {
	return int64(min(max(n/(8*goroutines), shortRun), longRun))
}

// work does piece i of many.
type work func(i int) error

// inParallel does pieces 0 to n−1, on as many goroutines as there are cores and
// work for, and waits for all of them. Each of them hires a worker of its own,
// which may keep memory from one piece to the next. Of several errors it returns
// that of the smallest index: all pieces before one that failed are done, so that
// the answer does not depend on the order of the work. A piece that panics fails
// with a [*goroutine.PanicError].
func inParallel(ctx context.Context, n int, hire func() work) error {
	errs := make([]error, n)
	var given, end atomic.Int64 // the pieces before given are given out; none from end on is begun
	end.Store(int64(n))
	goroutines := min(runtime.GOMAXPROCS(0), 1+n/shareOut)
	run := runLength(n, goroutines)
	do := func() {
		var i int64 // the piece that is being done
		err := goroutine.Run(func() error {
			var piece work
			for last := int64(0); ; i++ {
				if i == last {
					last = given.Add(run)
					i = last - run
				}
				if i >= end.Load() || ctx.Err() != nil {
					return nil //nolint:nilerr // the caller looks at the context
				}
				if piece == nil { // not before: a panic of hire is the error of a piece
					piece = hire()
				}
				if errs[i] = piece(int(i)); errs[i] != nil {
					lower(&end, i)
				}
			}
		})
		if err != nil {
			errs[i] = err
			lower(&end, i)
		}
	}
	var running sync.WaitGroup
	for range goroutines - 1 {
		goroutine.Go(&running, do, func(error) {}) // do has recovered
	}
	do()
	running.Wait()
	if failed := int(end.Load()); failed < n {
		return errs[failed]
	}
	if ctx.Err() != nil {
		return fmt.Errorf("scoring: %w", ctx.Err())
	}
	return nil
}

// lower makes a bound at most to.
func lower(bound *atomic.Int64, to int64) {
	now := bound.Load()
	for to < now && !bound.CompareAndSwap(now, to) {
		now = bound.Load()
	}
}
