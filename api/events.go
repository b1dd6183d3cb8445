package api

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"toolgym/api/feed"
	"toolgym/internal/refusal"
	"toolgym/internal/sse"
)

// heartbeat is how often a stream that has nothing to say says so, lest somebody
// on the way takes it for dead.
const heartbeat = 15 * time.Second

// eventsType is the media type of Server-Sent Events.
const eventsType = "text/event-stream"

// unknownState is the data of the last event where the state could not be read.
type unknownState struct{}

// eventParameters are the parameters of a route that sends events.
func eventParameters() []*huma.Param {
	return []*huma.Param{{Name: lastEventID, In: "header", Description: "The id of the last event that was received.", Schema: &huma.Schema{Type: huma.TypeString}}}
}

const lastEventID = "Last-Event-ID"

// sendEvents sends a feed as Server-Sent Events, from behind the one that
// Last-Event-ID names, until the feed ends, the client goes or the server does.
// Event ids are the numbers of the events. A stream without an event for
// Config.StreamTimeout ends as well; a client that still wants it reconnects.
func (s *Server) sendEvents(c echo.Context, events *feed.Feed, last func() (name string, text []byte)) error {
	seen, err := lastEvent(c.Request().Header, events)
	if err != nil {
		return edgeFailure(err)
	}
	release, err := s.shares.events.Take(exchangeOf(c.Request().Context()).caller.name, 1)
	if err != nil {
		return edgeFailure(err)
	}
	defer release()
	s.unhurried(c)
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, eventsType)
	header.Set(echo.HeaderCacheControl, "no-store")
	c.Response().WriteHeader(http.StatusOK)
	stream := eventStream{w: c.Response(), control: http.NewResponseController(c.Response().Writer)}
	pulse, idle := time.NewTicker(heartbeat), time.NewTimer(s.config.StreamTimeout)
	defer pulse.Stop()
	defer idle.Stop()
	for {
		list, more := events.After(seen)
		for _, text := range list {
			seen++
			stream.send(sse.Event{ID: strconv.Itoa(seen), Data: text})
			idle.Reset(s.config.StreamTimeout)
		}
		if more == nil {
			name, text := last()
			stream.send(sse.Event{ID: strconv.Itoa(seen), Name: name, Data: text})
		}
		if stream.flush() != nil || more == nil {
			return nil // the client has gone, or has it all
		}
		select {
		case <-more:
		case <-pulse.C:
			stream.beat()
		case <-idle.C:
			return nil
		case <-c.Request().Context().Done():
			return nil
		case <-s.stopping:
			return nil
		}
	}
}

// An eventStream writes events until a write fails.
type eventStream struct {
	w       io.Writer
	control *http.ResponseController
	err     error
}

func (e *eventStream) send(event sse.Event) {
	if e.err == nil {
		e.err = sse.Write(e.w, event)
	}
}

// beat writes a comment, which keeps the connection open and finds out that the
// client has gone.
func (e *eventStream) beat() {
	if e.err == nil {
		_, e.err = io.WriteString(e.w, ": still there\n\n")
	}
}

func (e *eventStream) flush() error {
	if e.err == nil {
		e.err = e.control.Flush()
	}
	return e.err
}

// lastEvent is how many events the client has seen.
func lastEvent(header http.Header, events *feed.Feed) (int, error) {
	given := header.Values(lastEventID)
	if len(given) == 0 {
		return 0, nil
	}
	seen, err := strconv.Atoi(given[0])
	if err != nil || len(given) > 1 || seen < 0 || seen > events.Len() {
		return 0, refusal.New(lastEventID, fmt.Sprintf("0 to %d", events.Len()), "%.40q is no event of this stream", given[0])
	}
	return seen, nil
}
