package grpo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sequencer takes the scored lines in their order, keeps them until the
// advantages of their groups can be worked out, and writes them.
type sequencer struct {
	out     *bufio.Writer
	plan    *plan
	tally   *tally
	grouped bool
	observe func(*float64) // may be nil
	failed  func(line int, cause error)

	held     *held
	kept     int // bytes of what waits
	waiting  spool
	names    []string       // the groups that wait, in order of appearance
	groups   map[string]int // their indices
	payments *payments      // theirs
}

// lineParts are the parts of a waiting record: the group's index and the line's
// place in it, the line's two halves, and its log-probabilities.
const lineParts = 4

// noGroup is the group's index of a line that names none.
const noGroup = math.MaxUint32

// drain takes chunks until there are no more, and gives them back to be used
// again.
func (q *sequencer) drain(ctx context.Context, ordered <-chan *chunk, used chan<- *chunk) error {
	for c := range ordered {
		select {
		case <-c.done:
		case <-ctx.Done():
			return fmt.Errorf("scoring lines: %w", context.Cause(ctx))
		}
		page := c.page
		for i := range c.scored {
			l := &c.scored[i]
			if err := q.take(l, page[:l.head], page[l.head:l.head+l.tail]); err != nil {
				return err
			}
			if l.score.Cause != nil && q.failed != nil && ctx.Err() == nil {
				q.failed(c.first+i, l.score.Cause)
			}
			page = page[l.head+l.tail:]
		}
		c.drop(q.held)
		select {
		case used <- c:
		default:
		}
		if len(ordered) > 0 {
			continue // what is written is seen when nothing follows at once
		}
		if err := q.out.Flush(); err != nil {
			return fmt.Errorf("writing lines: %w", err)
		}
	}
	return nil
}

// end lets the last groups go.
func (q *sequencer) end() error {
	if err := errors.Join(q.flush(), q.waiting.close()); err != nil {
		return err
	}
	if err := q.out.Flush(); err != nil {
		return fmt.Errorf("writing lines: %w", err)
	}
	return nil
}

// take puts a line among those that wait; where groups are neighbours, a new
// group lets the one before go.
func (q *sequencer) take(l *scoredLine, head, tail []byte) error {
	var place [8]byte
	binary.LittleEndian.PutUint32(place[:], noGroup)
	if l.readable {
		g, ok := q.groups[l.line.group]
		if !ok && q.grouped && len(q.names) > 0 {
			if err := q.flush(); err != nil {
				return err
			}
		}
		if !ok {
			if err := q.keep(groupWeight + 2*len(l.line.group)); err != nil {
				return err
			}
			g = q.open(strings.Clone(l.line.group))
		}
		binary.LittleEndian.PutUint32(place[:], uint32(g))
		binary.LittleEndian.PutUint32(place[4:], uint32(q.payments.size(g)))
		q.payments.add(g, &l.score)
	}
	if q.observe != nil {
		q.observe(l.score.Reward)
	}
	q.tally.addScore(&l.score)
	q.tally.noteTokens(&l.line.completion, &l.score)
	tokens, inMemory := tokensRecord(l), q.waiting.memory.Len()
	if err := q.waiting.add(place[:], head, tail, tokens); err != nil {
		return err
	}
	return q.keep(waitWeight + 10*len(q.payments.shares) + 2*(q.waiting.memory.Len()-inMemory))
}

// keep counts bytes of what waits for the end of its group.
func (q *sequencer) keep(bytes int) error {
	if err := q.held.take(bytes); err != nil {
		return err
	}
	q.kept += bytes
	return nil
}

func (q *sequencer) open(group string) int {
	g := q.payments.open()
	q.groups[group] = g
	q.names = append(q.names, group)
	return g
}

// tokensRecord keeps what the loss needs of a line, nothing for most.
func tokensRecord(l *scoredLine) []byte {
	c := &l.line.completion
	if c.LogProbs == nil || !l.score.Valid {
		return nil
	}
	kept := Completion{LogProbs: c.LogProbs, OldLogProbs: c.OldLogProbs, RefLogProbs: c.RefLogProbs, Mask: c.Mask}
	text, _ := json.Marshal(kept) // finite numbers always encode
	return text
}

// flush writes the lines that wait to the buffer.
func (q *sequencer) flush() error {
	advantages, spreads, err := q.payments.advantages()
	if err != nil {
		return fmt.Errorf("comparing rewards: %w", err)
	}
	for _, spread := range spreads {
		q.tally.addSpread(spread)
	}
	var names [][]byte
	for _, name := range q.names {
		quoted, _ := json.Marshal(name) // a string always encodes
		names = append(names, quoted)
	}
	err = q.waiting.each(lineParts, func(record [][]byte) error { return q.write(record, names, advantages) })
	if err != nil {
		return err
	}
	q.names = q.names[:0]
	if q.kept > keptBytes { // lists and maps that have grown are not kept
		q.names, q.groups, q.payments, q.waiting.memory = nil, map[string]int{}, q.plan.payments(), bytes.Buffer{}
	}
	q.held.give(q.kept)
	q.kept = 0
	q.payments.reset()
	clear(q.groups)
	return q.waiting.reset()
}

// write puts the halves of a line together, with what only its group can tell.
func (q *sequencer) write(record [][]byte, names [][]byte, advantages [][]float64) error {
	name, index, advantage := []byte(`""`), 0, 0.0
	if g := binary.LittleEndian.Uint32(record[0]); g != noGroup {
		index = int(binary.LittleEndian.Uint32(record[0][4:]))
		name, advantage = names[g], advantages[g][index]
	}
	b := append(q.out.AvailableBuffer(), `{"group":`...)
	b = append(append(b, name...), `,"index":`...)
	b = append(strconv.AppendInt(b, int64(index), 10), record[1]...)
	b = appendNumber(append(b, `,"advantage":`...), advantage, true)
	if _, err := q.out.Write(append(b, record[2]...)); err != nil {
		return fmt.Errorf("writing lines: %w", err)
	}
	if len(record[3]) == 0 {
		return nil
	}
	var c Completion
	if err := json.Unmarshal(record[3], &c); err != nil {
		return fmt.Errorf("reading log-probabilities back: %w", err)
	}
	return q.tally.addTokens(&c, &Score{Valid: true, Advantage: advantage})
}
