package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
)

// An Event is one of a stream of Server-Sent Events. The last of a stream is
// named end; where a sequence of them ends without, its error says why.
//
// A connection that breaks is made again, behind the last event that came, as
// often as [Config] says for each event: no event is missed, and none comes
// twice. Events are read as fast as they are taken.
type Event struct {
	ID   int             // its number, from 1; the last has that of the one before
	Name string          // empty, or end
	Data json.RawMessage // JSON
}

const endOfEvents = "end"

// watch yields events until the last one, or the caller's end.
func (c *Client) watch(ctx context.Context, to string, after int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		pause, failures := c.config.Pause, 0
		for {
			over := false
			err := c.listen(ctx, to, after, func(e Event) bool {
				after, failures, pause = e.ID, 0, c.config.Pause
				over = !yield(e, nil) || e.Name == endOfEvents
				return !over
			})
			again := (*passing)(nil)
			failures++
			switch {
			case over:
				return
			case !errors.As(err, &again):
			case failures >= c.config.Attempts || again.wait > longestWait:
				err = again.error
			default:
				if err = sleep(ctx, max(pause, again.wait)); err == nil {
					pause *= 2
					continue
				}
			}
			yield(Event{}, err)
			return
		}
	}
}

// listen tells the events of one connection to take, until it says no or they
// end, which is a failure that may pass.
func (c *Client) listen(ctx context.Context, to string, after int, take func(Event) bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	c.dress(r, "")
	r.Header.Set("Accept", "text/event-stream, application/problem+json")
	if after != 0 {
		r.Header.Set("Last-Event-ID", strconv.Itoa(after))
	}
	response, err := c.config.HTTP.Do(r)
	if err != nil {
		return broken(ctx, fmt.Errorf("asking the server: %w", err))
	}
	if response.StatusCode >= 300 {
		received, err := received(response)
		if err != nil {
			return broken(ctx, fmt.Errorf("reading the answer to %s: %w", to, err))
		}
		return refused(response, received)
	}
	err = readEvents(response.Body, take)
	_ = response.Body.Close() // what was read is whole
	if err != nil {
		return broken(ctx, fmt.Errorf("reading events of %s: %w", to, err))
	}
	return nil
}

// readEvents reads as much of the format as the server writes: fields id, event
// and data, comments, and an empty line behind each event (WHATWG HTML, section
// 9.2). It ends without an error only when take says no.
func readEvents(from io.Reader, take func(Event) bool) error {
	lines := bufio.NewReader(io.LimitReader(from, largestAnswer))
	var e Event
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // half an event is none
		}
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if e.Data != nil && !take(e) {
				return nil
			}
			e = Event{}
			continue
		}
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "id":
			if e.ID, err = strconv.Atoi(strings.TrimPrefix(value, " ")); err != nil {
				return fmt.Errorf("the id of an event: %w", err)
			}
		case "event":
			e.Name = strings.TrimPrefix(value, " ")
		case "data":
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, strings.TrimPrefix(value, " ")...)
		}
	}
}
