package rollout

import (
	"context"
	"fmt"
	"io"
	"sync"

	"toolgym/internal/modelserver"
)

// DefaultBudget is a [Budget] for the replies of trials that play at a time, in
// bytes. Reading, grading and keeping a reply take many times its size.
const DefaultBudget = 16 << 20

// heldStep is what a trial reserves at a time, in bytes.
const heldStep = 16 << 10

// A Budget bounds the bytes of replies and prompts that the trials of one
// evaluation hold at a time: a trial waits until others have given theirs back.
// Where every trial that holds some waits for more, one of them is let through,
// so that none waits for ever; the excess is at most one budget. It is safe for
// concurrent use.
type Budget struct {
	limit int64

	mu      sync.Mutex
	changed *sync.Cond
	used    int64
	holders int // trials that hold some
	waiting int // those of them that wait for more
}

// NewBudget makes a budget of a number of bytes.
func NewBudget(limit int64) *Budget {
	b := &Budget{limit: limit}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// Hold returns a context for one trial, whose replies count against the budget
// until release is called. A nil budget has no bound.
func (b *Budget) Hold(ctx context.Context) (held context.Context, release func()) {
	if b == nil {
		return ctx, func() {}
	}
	h := &hold{budget: b}
	return context.WithValue(ctx, holdKey{}, h), h.release
}

type holdKey struct{}

// A hold is what one trial has of a budget.
type hold struct {
	budget         *Budget
	used, reserved int64 // reserved is used, rounded up to steps
}

// take counts bytes, and waits while the budget has no room for them. A trial
// that needs more than the whole budget is [modelserver.ErrTooLong].
func (h *hold) take(ctx context.Context, n int64) error {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.used += n
	if h.used > b.limit {
		return fmt.Errorf("%w: the trial's replies and prompts have over %d bytes", modelserver.ErrTooLong, b.limit)
	}
	need := (h.used - h.reserved + heldStep - 1) / heldStep * heldStep
	if need <= 0 {
		return nil
	}
	if h.reserved > 0 {
		b.waiting++
		b.changed.Broadcast() // this may be the last that the others wait for
		defer func() { b.waiting-- }()
	}
	wake := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer wake()
	for b.used+need > b.limit && b.used > 0 && (h.reserved == 0 || b.waiting < b.holders) {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for room for a reply: %w", ctx.Err())
		}
		b.changed.Wait()
	}
	if h.reserved == 0 {
		b.holders++
	}
	h.reserved += need
	b.used += need
	return nil
}

func (h *hold) release() {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.reserved > 0 {
		b.holders--
	}
	b.used -= h.reserved
	h.used, h.reserved = 0, 0
	b.changed.Broadcast()
}

// take counts bytes against the budget of the context, if there is one.
func take(ctx context.Context, n int) error {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok {
		return nil
	}
	return h.take(ctx, int64(n))
}

// A heldReader counts what it reads against the budget of the context.
type heldReader struct {
	ctx  context.Context //nolint:containedctx // of the request whose reply is read
	body io.Reader
}

// Read implements io.Reader.
func (r heldReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if failed := take(r.ctx, n); failed != nil {
		return 0, failed
	}
	return n, err
}
