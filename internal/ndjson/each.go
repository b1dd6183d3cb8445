package ndjson

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"toolgym/internal/goroutine"
)

// The bounds of a chunk, the lines that one worker takes at a time.
const (
	chunkLines = 64
	chunkBytes = 256 << 10
)

// chunk is a run of lines, and then of their answers.
type chunk struct {
	lines   []Line
	answers []byte
	done    chan struct{} // closed when answers is filled
}

// Each appends an answer to every line of in, by the function, and writes the
// answers to out in the order of the lines. The function is called by several
// goroutines (workers; 0 means one a core) and must append exactly one line,
// its end included. Where it panics, failed appends the answer in its place, with
// the [*goroutine.PanicError].
//
// The error is the context's, the reader's or the writer's, which includes their
// panics. Each returns when all that it started has; a read that is pending is
// waited for.
func Each(ctx context.Context, in io.Reader, out io.Writer, workers int, answer func(to []byte, line Line) []byte, failed func(to []byte, line Line, err error) []byte) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work, ordered := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	var running sync.WaitGroup
	var readErr error
	goroutine.Go(&running, func() {
		defer close(work)
		defer close(ordered)
		readErr = read(ctx, in, func(c *chunk) bool { return send(ctx, ordered, c) && send(ctx, work, c) })
	}, func(err error) { readErr = err })
	for range workers {
		goroutine.Go(&running, func() {
			for c := range work {
				for _, line := range c.lines {
					c.answers = answered(c.answers, line, answer, failed)
				}
				c.lines = nil
				close(c.done)
			}
		}, cancel) // a panic of failed: ends the wait of write for the chunk
	}
	err := goroutine.Run(func() error { return write(ctx, out, ordered) })
	cancel(nil)
	running.Wait()
	if err == nil {
		err = readErr
	}
	return err
}

// answered appends the answer to a line, or that of failed.
func answered(to []byte, line Line, answer func([]byte, Line) []byte, failed func([]byte, Line, error) []byte) []byte {
	whole := to
	err := goroutine.Run(func() error {
		whole = answer(to, line)
		return nil
	})
	if err != nil {
		return failed(to, line, err)
	}
	return whole
}

func send(ctx context.Context, to chan<- *chunk, c *chunk) bool {
	select {
	case to <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// read cuts the input into chunks; one is sent as soon as the input pauses.
func read(ctx context.Context, in io.Reader, take func(*chunk) bool) error {
	r := bufio.NewReaderSize(in, 1<<16)
	number := 1
	for {
		c, err := readChunk(r, number)
		number += len(c.lines)
		if len(c.lines) > 0 && !take(c) {
			return fmt.Errorf("reading lines: %w", ctx.Err())
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading lines: %w", err)
		}
	}
}

func readChunk(r *bufio.Reader, number int) (*chunk, error) {
	c := &chunk{done: make(chan struct{})}
	for size := 0; len(c.lines) < chunkLines && size < chunkBytes; {
		line, err := next(r, number+len(c.lines))
		if err != nil {
			return c, err
		}
		c.lines = append(c.lines, line)
		size += len(line.Text)
		if r.Buffered() == 0 {
			break
		}
	}
	return c, nil
}

// write puts the answers out; what is written is seen when nothing follows at
// once.
func write(ctx context.Context, out io.Writer, ordered <-chan *chunk) error {
	w := bufio.NewWriterSize(out, 1<<16)
	for c := range ordered {
		select {
		case <-c.done:
		case <-ctx.Done():
			return fmt.Errorf("answering lines: %w", context.Cause(ctx))
		}
		if _, err := w.Write(c.answers); err != nil {
			return fmt.Errorf("writing answers: %w", err)
		}
		if len(ordered) > 0 {
			continue
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("writing answers: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing answers: %w", err)
	}
	return nil
}
