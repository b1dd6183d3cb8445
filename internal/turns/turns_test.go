package turns_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/refusal"
	"toolgym/internal/turns"
	"toolgym/tools"
)

// run begins a turn of each owner, in the order of the list, lets each last for a
// second, and returns the owners in the order of their turns and when they began,
// in seconds.
func run(t *testing.T, queue *turns.Queue, owners ...string) (order []string, seconds []float64) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := time.Now()
	for _, owner := range owners {
		all.Go(func() {
			turn := queue.Turn(owner, time.Hour)
			if err := turn.Begin(t.Context()); err != nil {
				t.Error(err)
			}
			mu.Lock()
			order, seconds = append(order, owner), append(seconds, time.Since(start).Seconds())
			mu.Unlock()
			time.Sleep(time.Second)
			turn.End()
		})
		synctest.Wait() // it has begun, or waits
	}
	all.Wait()
	return order, seconds
}

func TestTurns(t *testing.T) {
	for _, test := range []struct {
		name          string
		places, light int
		owners, order []string
		seconds       []float64
	}{
		{"one after the other", 1, 0, []string{"a", "a", "a"}, []string{"a", "a", "a"}, []float64{0, 1, 2}},
		{"two places", 2, 0, []string{"a", "a", "a", "a"}, []string{"a", "a", "a", "a"}, []float64{0, 0, 1, 1}},
		{"owners in turn", 1, 0, []string{"a", "a", "a", "b", "c", "b"}, []string{"a", "a", "b", "c", "a", "b"}, []float64{0, 1, 2, 3, 4, 5}},
		{"an owner rests while there is light work", 1, 2, []string{"a", "a", "b"}, []string{"a", "b", "a"}, []float64{0, 1, 5}},
		{"rests are in proportion to the light work", 1, 1, []string{"a", "a"}, []string{"a", "a"}, []float64{0, 3}},
		{"much light work counts as the processors", 1, 50, []string{"a", "a"}, []string{"a", "a"}, []float64{0, 5}},
		{"each place rests", 2, 4, []string{"a", "a", "a", "b"}, []string{"a", "a", "b", "a"}, []float64{0, 0, 1, 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := turns.New(test.places)
				for range test.light {
					defer queue.Light()()
				}
				order, seconds := run(t, queue, test.owners...)
				if diff := cmp.Diff(test.order, order) + cmp.Diff(test.seconds, seconds); diff != "" {
					t.Error(diff)
				}
				time.Sleep(time.Minute) // until the last rest is over
			})
		})
	}
}

// TestRestsAreBounded: after a turn of a minute, the rest is one of seconds.
func TestRestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := turns.New(1)
		for range 2 {
			defer queue.Light()()
		}
		long, next := queue.Turn("a", time.Hour), queue.Turn("a", time.Hour)
		if err := long.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		long.End()
		began := time.Now()
		if err := next.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began); got != 5*time.Second {
			t.Errorf("a rest of %v; want 5s", got)
		}
	})
}

// TestWaitsEnd: turns that are not granted in time, or whose client has gone,
// leave the queue, and the others go on.
func TestWaitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := turns.New(1)
		first := queue.Turn("a", time.Second)
		if err := first.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone, hangUp := context.WithCancel(t.Context())
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i, ctx := range []context.Context{t.Context(), gone, t.Context()} {
			turn := queue.Turn("a", time.Duration(1+8*(i/2))*time.Second)
			all.Go(func() { errs[i] = turn.Begin(ctx) })
			synctest.Wait()
		}
		hangUp()
		time.Sleep(2 * time.Second)
		first.End()
		first.End() // again: the place is given once
		all.Wait()
		if !refusal.Is(errs[0], tools.Exhausted) || !errors.Is(errs[1], context.Canceled) || errs[2] != nil {
			t.Errorf("got %v; want exhausted, canceled, nil", errs)
		}
		late := queue.Turn("b", time.Second)
		if err := late.Begin(t.Context()); !refusal.Is(err, tools.Exhausted) {
			t.Errorf("with the place taken: got error %v; want exhausted", err)
		}
	})
}

// TestNoTurn: a request without a turn begins at once.
func TestNoTurn(t *testing.T) {
	var none *turns.Turn
	none.End()
	if err := none.Begin(t.Context()); err != nil {
		t.Error(err)
	}
}
