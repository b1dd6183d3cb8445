package grpo

import "sync"

// What a stream holds of a line beyond its text, in bytes: its criteria and the
// rest of a score while it is in a chunk, and what waits of it for its group.
const (
	lineWeight  = 2 << 10
	waitWeight  = 64
	groupWeight = 512
)

// freeBytes is what a stream holds without being charged: the chunks of lines of a
// usual size. What is beyond is charged in steps of chargeStep.
const (
	freeBytes  = 4 << 20
	chargeStep = 1 << 20
)

// held counts the memory that a stream holds at a time: chunks of lines from when
// they are read until their scores are written, and what waits for the end of a
// group. A nil held is not charged. It is safe for concurrent use.
type held struct {
	charge  Charge
	release func(bytes int64)

	mu      sync.Mutex
	bytes   int64
	charged int64
}

// take counts bytes before they are used, and charges what is beyond those that
// are free.
func (h *held) take(bytes int) error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if over := h.bytes + int64(bytes) - freeBytes - h.charged; over > 0 {
		over = (over + chargeStep - 1) / chargeStep * chargeStep
		if err := h.charge(over); err != nil {
			return err
		}
		h.charged += over
	}
	h.bytes += int64(bytes)
	return nil
}

// give counts bytes that are no longer used.
func (h *held) give(bytes int) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= int64(bytes)
	if spare := h.charged - max(0, h.bytes-freeBytes); spare > 2*chargeStep { // not at every chunk
		h.charged -= spare
		h.release(spare)
	}
}

// size is about how many bytes a line's lists of numbers take once they are read.
func (c *Completion) size() int {
	n := 8 * (len(c.LogProbs) + len(c.OldLogProbs) + len(c.RefLogProbs) + len(c.Mask))
	if c.Text != nil {
		n += len(*c.Text)
	}
	for _, m := range c.Messages {
		n += len(m)
	}
	return n
}
