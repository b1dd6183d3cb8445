package grpo

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"toolgym/internal/goroutine"
)

func TestEveryPieceIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 16, 17, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			done := make([]atomic.Int32, n)
			err := inParallel(t.Context(), n, func() work {
				return func(i int) error {
					done[i].Add(1)
					return nil
				}
			})
			for i := range done {
				if done[i].Load() != 1 {
					t.Errorf("piece %d was done %d times", i, done[i].Load())
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Of two pieces that fail the first one's error is returned, whichever fails
// first.
func TestTheFirstErrorCounts(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	for range 200 {
		err := inParallel(t.Context(), 100, func() work {
			return func(i int) error {
				switch i {
				case 31:
					return early
				case 32, 40, 99:
					return late
				}
				return nil
			}
		})
		if !errors.Is(err, early) {
			t.Fatalf("%v", err)
		}
	}
}

func TestWorkEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	err := inParallel(ctx, 1000, func() work {
		return func(int) error {
			if done.Add(1) >= 10 {
				cancel()
			}
			return nil
		}
	})
	if !errors.Is(err, context.Canceled) || done.Load() > int32(9+runtime.GOMAXPROCS(0)) {
		t.Errorf("%v after %d pieces", err, done.Load())
	}
}

// TestPanicsOfPieces are the errors of their pieces: the first one counts, as for
// other errors, and all pieces before it are done.
func TestPanicsOfPieces(t *testing.T) {
	for range 100 {
		done := make([]atomic.Bool, 100)
		err := inParallel(t.Context(), len(done), func() work {
			return func(i int) error {
				switch i {
				case 31:
					panic("early")
				case 32, 40, 99:
					panic("late")
				}
				done[i].Store(true)
				return nil
			}
		})
		p, ok := errors.AsType[*goroutine.PanicError](err)
		if !ok || p.Value != "early" {
			t.Fatalf("%v", err)
		}
		for i := range 31 {
			if !done[i].Load() {
				t.Fatalf("piece %d is not done", i)
			}
		}
	}
	err := inParallel(t.Context(), 100, func() work { panic("hiring") })
	if p, ok := errors.AsType[*goroutine.PanicError](err); !ok || p.Value != "hiring" {
		t.Errorf("%v", err)
	}
}
