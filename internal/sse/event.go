package sse

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// An Event is one of a stream. Its name may be empty.
type Event struct {
	ID, Name string
	Data     []byte // to be written, on one line
}

// Write writes an event in one piece.
func Write(w io.Writer, e Event) error {
	name := ""
	if e.Name != "" {
		name = "event: " + e.Name + "\n"
	}
	_, err := fmt.Fprintf(w, "id: %s\n%sdata: %s\n\n", e.ID, name, e.Data)
	return err
}

// Read yields the events of a stream that have data, until its end or the
// reader's error. Half an event is none.
func Read(from io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReader(from)
		var e Event
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Event{}, err)
				}
				return
			}
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				e.take(line)
				continue
			}
			if e.Data != nil && !yield(e, nil) {
				return
			}
			e = Event{}
		}
	}
}

// take adds a line to an event. Comments and fields of other names mean nothing.
func (e *Event) take(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		e.ID = value
	case "event":
		e.Name = value
	case "data":
		if e.Data != nil {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
	}
}
