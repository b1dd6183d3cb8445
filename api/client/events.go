package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"toolgym/internal/sse"
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

// settled is how long a connection lasts that was not made in vain.
const settled = 30 * time.Second

// watch yields events until the last one, or the caller's end.
func (c *Client) watch(ctx context.Context, to string, after int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		pause, failures := c.config.Pause, 0
		for {
			over, begun := false, time.Now()
			err := c.listen(ctx, to, after, func(e Event) bool {
				after, failures, pause = e.ID, 0, c.config.Pause
				over = !yield(e, nil) || e.Name == endOfEvents
				return !over
			})
			if time.Since(begun) >= settled { // the server ends streams in which nothing comes
				failures, pause = 0, c.config.Pause
			}
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

// readEvents gives events to take, until it says no; a stream that ends before
// has broken off.
func readEvents(from io.Reader, take func(Event) bool) error {
	for e, err := range sse.Read(io.LimitReader(from, largestAnswer)) {
		if err != nil {
			return err
		}
		id := 0
		if e.ID != "" {
			if id, err = strconv.Atoi(e.ID); err != nil {
				return fmt.Errorf("the id of an event: %w", err)
			}
		}
		if !take(Event{ID: id, Name: e.Name, Data: e.Data}) {
			return nil
		}
	}
	return io.ErrUnexpectedEOF
}
