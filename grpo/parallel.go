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

// inParallel calls f for 0 to n−1, on as many goroutines as there are cores and
// work for, and waits for all of them. Of several errors it returns that of the
// smallest index, so that the answer does not depend on the order of the work.
func inParallel(ctx context.Context, n int, f func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), 1+n/shareOut)
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && !failed.Load() && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if errs[i] = f(i); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	var running sync.WaitGroup
	for range workers - 1 {
		running.Go(work)
	}
	work()
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
