package grpo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// The bounds of reading. A chunk is what one worker takes at a time.
const (
	maxLine    = 64 << 20
	chunkLines = 64
	chunkBytes = 256 << 10
)

// chunk is a run of lines, and then of their scores.
type chunk struct {
	first  int // number of the first line, from 1
	lines  []rawLine
	scored []scoredLine
	done   chan struct{} // closed when scored is filled
}

// rawLine is a line as it came; tooLong when it was cut for its length.
type rawLine struct {
	text    []byte
	tooLong bool
}

// scoredLine is what the sequencer needs to know of a line.
type scoredLine struct {
	line       line
	readable   bool // it names its group
	score      Score
	head, tail []byte
}

// readChunks cuts the input into chunks and sends each to next, until the input
// ends or the context does. A chunk is sent as soon as the input pauses, so that
// who writes group by group is answered group by group.
func readChunks(ctx context.Context, in io.Reader, next func(*chunk) bool) error {
	r := bufio.NewReaderSize(in, 1<<16)
	c := &chunk{first: 1, done: make(chan struct{})}
	size := 0
	for {
		text, tooLong, err := nextLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading lines: %w", err)
		}
		c.lines = append(c.lines, rawLine{text, tooLong})
		size += len(text)
		if len(c.lines) < chunkLines && size < chunkBytes && r.Buffered() > 0 {
			continue
		}
		after := c.first + len(c.lines) // before a worker has the chunk
		if !next(c) {
			return ctx.Err()
		}
		c, size = &chunk{first: after, done: make(chan struct{})}, 0
	}
	if len(c.lines) > 0 {
		next(c)
	}
	return ctx.Err()
}

// nextLine reads one line without its end. Of a line that is too long only the
// beginning is kept.
func nextLine(r *bufio.Reader) (text []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			tooLong = true
			part = part[:0]
		}
		text = append(text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), tooLong, nil
		case errors.Is(err, io.EOF) && (len(text) > 0 || tooLong):
			return text, tooLong, nil
		}
		return nil, false, err
	}
}
