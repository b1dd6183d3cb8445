package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"toolgym/internal/sse"
)

const (
	// shortest is the time between two frames: a little more than 7 a second,
	// so that 4 reach the page also where drawing takes its time.
	shortest = 125 * time.Millisecond
	// silence is how long a stream says nothing before it says so, lest somebody
	// on the way takes it for dead.
	silence = 15 * time.Second
	// slowest is how long a client may take to read a frame.
	slowest = 30 * time.Second
)

// A sight is what there is to see at a moment: its name, and how to draw it.
type sight struct {
	version string
	over    bool // nothing will change any more
	draw    func() ([]byte, error)
}

// follow sends what there is to see whenever it has changed, but never more
// often than about every [shortest], and no longer than half the time. What came
// and went in between is not sent: a client that is slow sees less, and never
// what is old. Send says whether the client is still there. It returns at the end of what there is to see, of the context,
// and of the server, and when nothing has changed for the idle time.
func follow(ctx context.Context, idle time.Duration, stopping <-chan struct{}, seen string, look func() sight, send func(name, id string, text []byte) bool) error {
	quiet, changed := time.Now(), time.Now()
	for {
		begin, now := time.Now(), look()
		switch {
		case now.version != seen:
			text, err := now.draw()
			if err != nil {
				return err
			}
			if !send("", now.version, text) {
				return nil // the client has gone
			}
			seen, quiet, changed = now.version, time.Now(), time.Now()
		case time.Since(changed) >= idle:
			return nil // a page that still wants it reconnects
		case time.Since(quiet) >= silence:
			if !send("still", seen, []byte("{}")) {
				return nil // the client has gone
			}
			quiet = time.Now()
		}
		if now.over {
			send("end", seen, []byte("{}"))
			return nil
		}
		select {
		case <-time.After(max(shortest-time.Since(begin), time.Since(begin))):
		case <-ctx.Done():
			return nil
		case <-stopping:
			return nil
		}
	}
}

// watchTraining sends the selection as Server-Sent Events, an event a frame, as
// it changes. Last-Event-ID names what the client shows already. The event
// "end" says that nothing more will come.
func (l *Lab) watchTraining(w http.ResponseWriter, r *http.Request) error {
	s, err := l.selected(r)
	if err != nil {
		return err
	}
	release, err := l.config.Events.Take(l.config.Owner(r.Context()), 1)
	if err != nil {
		return err
	}
	defer release()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a ResponseWriter without deadlines has none to lift
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	look := func() sight {
		now := l.fresh(r, s)
		version, _ := now.version()
		return sight{version, !now.live(), func() ([]byte, error) {
			frame, err := l.frame(&now)
			if err != nil {
				return nil, err
			}
			return lineOf(frame)
		}}
	}
	return follow(r.Context(), l.config.Idle, l.config.Stopping, r.Header.Get("Last-Event-ID"), look, func(name, id string, text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(slowest))
		return sse.Write(w, sse.Event{ID: id, Name: name, Data: text}) == nil && control.Flush() == nil
	})
}

// lineOf encodes a frame for a stream. Its drawings are full of angle brackets,
// which no page reads as its own there, and are not escaped.
func lineOf(f trainingFrame) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("encoding a frame: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
