package grpo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"toolgym/grpo/objective"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
)

// StreamOptions say how [Scorer.Stream] goes about it.
type StreamOptions struct {
	// Grouped says that the members of a group are neighbours: each group is
	// answered when the next one begins. Otherwise groups may be spread over
	// the input, and nothing is answered before its end.
	Grouped       bool
	Workers       int // 0 means one for each core
	Normalization objective.Normalization
	Aggregation   objective.Aggregation
	Loss          *objective.Config // of the metrics; nil means the defaults
	TempDir       string            // where what must wait is spilled to; "" means the system's
	// Observe, where it is set, is told the reward of each line in turn, nil for
	// one that has none, by one goroutine.
	Observe func(reward *float64)
	// Failed, where it is set, is called with the number of each line whose score
	// has a Cause, and with that, in the order of the lines and by one goroutine.
	Failed func(line int, cause error)
	// Turn, where it is set, is called for every few lines, and calls score once
	// it may: a server bounds by it what is computed at the same time. Its error
	// ends the stream.
	Turn func(ctx context.Context, score func()) error
	// Charge and Release, where they are set, are told what the stream takes in
	// memory beyond 4 MiB, and gives back before its end, by many goroutines. An
	// error of Charge ends the stream. What is charged at its end is the caller's
	// to release.
	Charge  Charge
	Release func(bytes int64)
}

// Stream scores a file of lines (JSON objects, one completion each) and writes
// one line for each, in the same order; the fields are those of the manual. A
// line that cannot be read, or whose task is broken, gives a line with a
// harness failure that names the line's number, and the rest goes on.
//
// Memory is bounded: what must wait for its group, or for the end of the input
// (without Grouped, or under batch normalization), is spilled to disk. Of each
// line that waits some 40 bytes stay in memory; where criteria are normalized one
// by one, 9 more for each that is paid for.
//
// The error is the context's, the reader's or the writer's; Stream returns when
// the read that is pending has returned.
func (s *Scorer) Stream(ctx context.Context, in io.Reader, out io.Writer, o StreamOptions) (Metrics, error) {
	request := Request{Normalization: o.Normalization, Aggregation: o.Aggregation, Loss: o.Loss}
	if err := request.Validate(); err != nil {
		return nil, err
	}
	plan, err := s.plan(request)
	if err != nil {
		return nil, err
	}
	tally, err := newTally(plan)
	if err != nil {
		return nil, err
	}
	q := &sequencer{
		out: bufio.NewWriterSize(out, 1<<16), plan: plan, tally: tally, waiting: spool{dir: o.TempDir, limit: maxSpool},
		held:    o.held(),
		grouped: o.Grouped && plan.normalization != objective.NormalizeBatch, groups: map[string]int{}, payments: plan.payments(), observe: o.Observe, failed: o.Failed,
	}
	if err := s.pump(ctx, in, plan, q, o); err != nil {
		_ = q.waiting.close() // the first error says more
		return nil, err
	}
	if err := q.end(); err != nil {
		return nil, err
	}
	return tally.metrics()
}

// held counts what the stream holds, nil without a callback.
func (o StreamOptions) held() *held {
	if o.Charge == nil {
		return nil
	}
	return &held{charge: o.Charge, release: o.Release}
}

// pump runs one goroutine that reads, workers that score, and the sequencer
// that puts the chunks back in order, which is the caller's goroutine. It
// returns when all of them have. A panic in one of them is its error.
func (s *Scorer) pump(ctx context.Context, in io.Reader, p *plan, q *sequencer, o StreamOptions) error {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work, ordered := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	used := make(chan *chunk, 3*workers)
	var running sync.WaitGroup
	var readErr error
	goroutine.Go(&running, func() {
		defer close(work)
		defer close(ordered)
		readErr = readChunks(ctx, in, q.held, func() *chunk { return again(used) }, func(c *chunk) bool {
			return send(ctx, ordered, c) && send(ctx, work, c)
		})
	}, func(err error) { readErr = err })
	tasks := newCache(s)
	for range workers {
		goroutine.Go(&running, func() {
			g := &grader{by: p.tariff}
			for c := range work {
				var over error
				score := func() { over = g.scoreChunk(ctx, tasks, q.held, c) }
				if o.Turn == nil {
					score()
				} else if err := o.Turn(ctx, score); err != nil {
					over = err
				}
				if over != nil {
					cancel(over)
					return
				}
			}
		}, cancel) // ends the wait of drain for the chunk, which is not done
	}
	err := goroutine.Run(func() error { return q.drain(ctx, ordered, used) })
	cancel(nil)
	running.Wait()
	if err == nil {
		err = readErr
	}
	return err
}

// again takes a chunk that was used, or makes one.
func again(used <-chan *chunk) *chunk {
	select {
	case c := <-used:
		return c
	default:
		return newChunk()
	}
}

func send(ctx context.Context, to chan<- *chunk, c *chunk) bool {
	select {
	case to <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// scoreChunk scores the lines of a chunk. What it writes lies in the chunk's own
// memory, which is used again when the chunk is. The error is that of charging for
// it.
func (g *grader) scoreChunk(ctx context.Context, tasks *cache, h *held, c *chunk) error {
	c.grow(g.by.heading)
	var declared []byte // the tools of the last line that could be read
	for i, raw := range c.lines {
		scored := &c.scored[i]
		if g.scoreLine(ctx, tasks, c.text, declared, raw, c.first+i, scored) {
			declared = scored.line.tools
		}
		weight := lineWeight + int(scored.score.weight())
		if err := c.take(h, 2*weight+scored.line.completion.size()); err != nil { // once in memory, once on the page
			return err
		}
		start := len(c.page)
		c.page = scored.score.head(c.page)
		scored.head = len(c.page) - start
		c.page = scored.score.tail(c.page)
		scored.tail = len(c.page) - start - scored.head
	}
	c.done <- struct{}{}
	return nil
}

// scoreLine scores a line, and reports whether all of it could be read.
func (g *grader) scoreLine(ctx context.Context, tasks *cache, text, declared []byte, raw rawLine, number int, to *scoredLine) bool {
	err := goroutine.Run(func() error {
		if raw.tooLong {
			return refusal.New("", fmt.Sprintf("at most %d bytes", maxLine), "the line is too long")
		}
		err := readLine(text[raw.start:raw.end], declared, &to.line)
		to.readable = to.line.group != "" || err == nil
		if err != nil {
			return err
		}
		t, err := tasks.task(ctx, &to.line)
		if err != nil {
			return err
		}
		return g.judge(ctx, t, &to.line.completion, &to.score)
	})
	if err != nil {
		to.score.unread(number, err)
		to.score.pay(g.by, nil)
	}
	return err == nil
}
