package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// through opens FILE and lets work turn it into results. The work is called off
// when the command is interrupted, and when the reader of its results has gone.
func (w *console) through(outer context.Context, path string, work func(context.Context, io.Reader, io.Writer) error) error {
	defer roomy()()
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	in, err := w.open(ctx, path)
	if err != nil {
		return err
	}
	out := &counted{to: w.out, failed: cancel}
	err = work(ctx, in, out)
	closed := in.Close()
	switch {
	case outer.Err() != nil:
		return interrupted(out.lines.Load())
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case closed != nil:
		return fmt.Errorf("closing the input: %w", closed)
	}
	return nil
}

// interrupted says what there is after Ctrl-C, and how to go on.
func interrupted(lines int64) error {
	if lines == 0 {
		return errors.New("interrupted before anything was written; run the command again")
	}
	return fmt.Errorf("interrupted: %d lines are written and whole; go on with tail -n +%d FILE", lines, lines+1)
}

// counted counts the lines that were written, and reports the first failure.
type counted struct {
	to     io.Writer
	lines  atomic.Int64
	failed context.CancelCauseFunc
}

func (c *counted) Write(text []byte) (int, error) {
	n, err := c.to.Write(text)
	c.lines.Add(int64(bytes.Count(text[:n], []byte("\n"))))
	if err != nil {
		c.failed(fmt.Errorf("writing results: %w", err))
	}
	return n, err
}
