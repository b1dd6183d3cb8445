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
	keptBytes  = 1 << 20 // memory of a chunk that is used again
)

// chunk is a run of lines, and then of their scores. Its memory is used again
// for later lines.
type chunk struct {
	first  int    // number of the first line, from 1
	text   []byte // the lines, one after another
	lines  []rawLine
	scored []scoredLine
	values []float64 // of the criteria of all scores
	calls  []Call    // one of each score; most make one
	page   []byte    // what the scores write, one after another
	done   chan struct{}
	taken  int // bytes that are counted as held
}

// rawLine is the span of a line in its chunk's text; tooLong when it was cut for
// its length.
type rawLine struct {
	start, end int
	tooLong    bool
}

// scoredLine is what the sequencer needs to know of a line.
type scoredLine struct {
	line       line
	readable   bool // it names its group
	score      Score
	head, tail int // bytes on the chunk's page
}

func newChunk() *chunk { return &chunk{done: make(chan struct{}, 1)} }

// reset makes the chunk ready for the lines from number first on.
func (c *chunk) reset(first int) *chunk {
	c.first, c.lines = first, c.lines[:0]
	return c
}

// take counts bytes that the chunk is about to use.
func (c *chunk) take(h *held, bytes int) error {
	if err := h.take(bytes); err != nil {
		return err
	}
	c.taken += bytes
	return nil
}

// drop forgets lines and scores, and gives back what they took. Little memory is
// kept for later lines.
func (c *chunk) drop(h *held) {
	c.text, c.page = kept(c.text), kept(c.page)
	clear(c.scored)
	clear(c.calls)
	h.give(c.taken)
	c.taken = 0
}

func kept(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
}

// grow makes room for the scores of the chunk's lines.
func (c *chunk) grow(h *heading) {
	criteria := len(h.names)
	if n := len(c.lines); cap(c.scored) < n || len(c.values) < n*criteria {
		c.scored, c.values, c.calls = make([]scoredLine, chunkLines), make([]float64, chunkLines*criteria), make([]Call, chunkLines)
	}
	c.scored = c.scored[:len(c.lines)]
	clear(c.scored)
	clear(c.values)
	clear(c.calls)
	for i := range c.scored {
		s := &c.scored[i].score
		s.Criteria, s.Calls = h.blank(c.values[i*criteria:(i+1)*criteria:(i+1)*criteria]), c.calls[i:i:i+1]
	}
}

// readChunks cuts the input into chunks, which it takes from fresh, and sends
// each to next, until the input ends or the context does. A chunk is sent as
// soon as the input pauses, so that who writes group by group is answered group
// by group.
func readChunks(ctx context.Context, in io.Reader, h *held, fresh func() *chunk, next func(*chunk) bool) error {
	r := bufio.NewReaderSize(in, 1<<16)
	c := fresh().reset(1)
	for {
		err := c.readLine(r, h)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading lines: %w", err)
		}
		if len(c.lines) < chunkLines && len(c.text) < chunkBytes && r.Buffered() > 0 {
			continue
		}
		after := c.first + len(c.lines) // before a worker has the chunk
		if !next(c) {
			return ctx.Err()
		}
		c = fresh().reset(after)
	}
	if len(c.lines) > 0 {
		next(c)
	}
	return ctx.Err()
}

// readLine reads one line without its end. Of a line that is too long only the
// beginning is kept.
func (c *chunk) readLine(r *bufio.Reader, h *held) error {
	line := rawLine{start: len(c.text)}
	for {
		part, err := r.ReadSlice('\n')
		if len(c.text)-line.start+len(part) > maxLine {
			line.tooLong = true
			part = part[:0]
		}
		if err := c.take(h, 2*len(part)); err != nil { // a list that grows has room for as much again
			return err
		}
		c.text = append(c.text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			c.text = bytes.TrimSuffix(c.text, []byte("\n"))
		case !errors.Is(err, io.EOF) || len(c.text) == line.start && !line.tooLong:
			return err
		}
		line.end = len(c.text)
		c.lines = append(c.lines, line)
		return nil
	}
}
