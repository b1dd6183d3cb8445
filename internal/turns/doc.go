// Package turns lets requests that compute for long take turns, so that they
// leave processors to the light requests of the same process:
//
//	queue := turns.New(max(1, runtime.GOMAXPROCS(0)/2))
//	turn := queue.Turn(token, 30*time.Second)
//	if err := turn.Begin(ctx); err != nil {
//		return err // an exhausted *tools.Error: there was no turn in time
//	}
//	defer turn.End()
//
// Goroutines have no priorities. A request that computes for a second takes a
// processor for all of it, and what answers in a millisecond waits behind it;
// with the number of turns and with rests between them, that happens seldom.
package turns
