package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"toolgym/api/client"
)

func newSender(clients int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: 2 * clients}, Timeout: time.Minute}
}

// post sends one request. An error means that there was no answer.
func post(ctx context.Context, sender *http.Client, url string, body, answer any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	return exchange(ctx, sender, http.MethodPost, url, text, answer)
}

func exchange(ctx context.Context, sender *http.Client, method, url string, text []byte, answer any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := sender.Do(request)
	if err != nil {
		return 0, err
	}
	received, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(received, answer)
	}
	return response.StatusCode, err
}

// A siege is all that the players of one measurement share.
type siege struct {
	ctx     context.Context //nolint:containedctx // of the whole measurement, which it is
	sender  *http.Client
	address atomic.Pointer[string]
	away    atomic.Bool // the server has been killed, and may not answer
	until   time.Time
	faults  atomic.Int64 // answers that should not have been
	first   atomic.Pointer[string]
}

func (s *siege) fault(format string, args ...any) {
	s.faults.Add(1)
	text := fmt.Sprintf(format, args...)
	s.first.CompareAndSwap(nil, &text)
}

// send sends until there is an answer, and reports whether it took more than one
// attempt. No answer at all is a fault, unless the server was killed.
func (s *siege) send(method, path string, body, answer any) (status int, again bool) {
	text, err := json.Marshal(body)
	if err != nil {
		s.fault("encoding a request: %v", err)
		return 0, false
	}
	for began := time.Now(); s.ctx.Err() == nil; again = true {
		status, err := exchange(s.ctx, s.sender, method, *s.address.Load()+path, text, answer)
		if err == nil {
			return status, again
		}
		if !s.away.Load() || time.Since(began) > time.Minute {
			s.fault("%s %s: %v", method, path, err)
			return 0, again
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, again
}

// An episode as its player knows it.
type episode struct {
	id    string
	steps int
}

// A player goes round its episodes.
type player struct {
	*siege
	number   int
	episodes []episode
	made     int // episodes, for names and tasks
	calls    int
	waits    []time.Duration // of calls that were answered at once
	longest  time.Duration   // of those that were sent again
}

// begin begins the episode that takes the place i.
func (p *player) begin(i int) bool {
	p.made++
	var state client.State
	start := client.Start{TaskID: fmt.Sprintf("gridworld/%d/%d", p.made%3, p.number*1000+p.made)}
	if status, _ := p.send(http.MethodPost, "/v1/episodes", start, &state); status != http.StatusCreated {
		p.fault("beginning an episode: %d", status)
		return false
	}
	p.episodes[i] = episode{id: state.ID}
	return true
}

// play goes round until the time is up.
func (p *player) play() {
	moves := []string{"move_up", "move_down", "move_left", "move_right"}
	for i := 0; time.Now().Before(p.until) && p.ctx.Err() == nil; i = (i + 1) % len(p.episodes) {
		e := &p.episodes[i]
		call := client.Call{Name: moves[(e.steps+p.number)%len(moves)], RequestID: fmt.Sprintf("%s-%d", e.id, e.steps+1)}
		var answer client.Answer
		sent := time.Now()
		status, again := p.send(http.MethodPost, "/v1/episodes/"+e.id+"/calls", call, &answer)
		p.note(time.Since(sent), again)
		if status != http.StatusOK || answer.Step != e.steps+1 {
			p.fault("episode %s: status %d, told of step %d after %d", e.id, status, answer.Step, e.steps)
			return
		}
		e.steps++
		if answer.Terminated || answer.Truncated {
			if status, again := p.send(http.MethodDelete, "/v1/episodes/"+e.id, nil, nil); status != http.StatusNoContent && !again {
				p.fault("deleting an episode: %d", status)
			}
			if !p.begin(i) {
				return
			}
		}
	}
}

func (p *player) note(wait time.Duration, again bool) {
	p.calls++
	if again {
		p.longest = max(p.longest, wait)
		return
	}
	p.waits = append(p.waits, wait)
}

// check asks for every episode and counts its steps.
func (p *player) check() {
	for _, e := range p.episodes {
		var state client.State
		if status, _ := p.send(http.MethodGet, "/v1/episodes/"+e.id, nil, &state); status != http.StatusOK || state.Step != e.steps {
			p.fault("episode %s has %d steps, its player was told of %d (status %d)", e.id, state.Step, e.steps, status)
		}
	}
}
