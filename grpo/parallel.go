package grpo

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// shareOut is how many pieces of work one goroutine is started for.
const shareOut = 16

// work does piece i of many.
type work func(i int) error

// inParallel does pieces 0 to n−1, on as many goroutines as there are cores and
// work for, and waits for all of them. Each of them hires a worker of its own,
// which may keep memory from one piece to the next. Of several errors it returns
// that of the smallest index, so that the answer does not depend on the order of
// the work.
func inParallel(ctx context.Context, n int, hire func() work) error {
	workers := min(runtime.GOMAXPROCS(0), 1+n/shareOut)
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	do := func() {
		piece := hire()
		for i := int(next.Add(1)) - 1; i < n && !failed.Load() && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if errs[i] = piece(i); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	var running sync.WaitGroup
	for range workers - 1 {
		running.Go(do)
	}
	do()
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("scoring: %w", ctx.Err())
	}
	return nil
}
