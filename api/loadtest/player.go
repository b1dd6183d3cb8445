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

// newSender makes an HTTP client for so many clients. A redirect is an answer.
func newSender(clients int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: 2 * clients}, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends one request. An error means that there was no answer.
func post(ctx context.Context, sender *http.Client, url string, body, answer any) (int, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	return exchange(ctx, sender, "", http.MethodPost, url, text, answer)
}

// exchange sends one request, with a token unless secret is "".
func exchange(ctx context.Context, sender *http.Client, secret, method, url string, text []byte, answer any) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
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
	away    atomic.Bool  // the server has been killed, and may not answer
	over    atomic.Bool  // the time is up
	phase   atomic.Int32 // a phase
	admin   string       // the secret of the token that reads metrics; "" without tokens
	faults  faults
	// hostileFaults are answers to attackers that should not have been.
	hostileFaults faults
	someEpisode   atomic.Pointer[string] // of a player, for attackers
}

// faults are answers that should not have been.
type faults struct {
	count atomic.Int64
	first atomic.Pointer[string]
}

func (f *faults) add(format string, args ...any) {
	f.count.Add(1)
	text := fmt.Sprintf(format, args...)
	f.first.CompareAndSwap(nil, &text)
}

// firstText is the first fault, "" without one.
func (f *faults) firstText() string {
	if first := f.first.Load(); first != nil {
		return *first
	}
	return ""
}

// send sends until there is an answer, and reports whether it took more than one
// attempt. No answer at all is a fault, unless the server was killed.
func (s *siege) send(secret, method, path string, body, answer any) (status int, again bool) {
	text, err := json.Marshal(body)
	if err != nil {
		s.faults.add("encoding a request: %v", err)
		return 0, false
	}
	for began := time.Now(); s.ctx.Err() == nil; again = true {
		status, err := exchange(s.ctx, s.sender, secret, method, *s.address.Load()+path, text, answer)
		if err == nil {
			return status, again
		}
		if !s.away.Load() || time.Since(began) > time.Minute {
			s.faults.add("%s %s: %v", method, path, err)
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
	secret   string // of its token
	episodes []episode
	made     int                     // episodes, for names and tasks
	waits    [phases][]time.Duration // of calls that were answered at once
	longest  time.Duration           // of those that were sent again
}

// begin begins the episode that takes the place i.
func (p *player) begin(i int) bool {
	p.made++
	var state client.State
	start := client.Start{TaskID: fmt.Sprintf("gridworld/%d/%d", p.made%3, p.number*1000+p.made)}
	if status, _ := p.send(p.secret, http.MethodPost, "/v1/episodes", start, &state); status != http.StatusCreated {
		p.faults.add("beginning an episode: %d", status)
		return false
	}
	p.episodes[i] = episode{id: state.ID}
	if p.number == 0 && i == 0 {
		p.someEpisode.Store(&state.ID)
	}
	return true
}

// play goes round until the time is up.
func (p *player) play() {
	moves := []string{"move_up", "move_down", "move_left", "move_right"}
	for i := 0; !p.over.Load() && p.ctx.Err() == nil; i = (i + 1) % len(p.episodes) {
		e := &p.episodes[i]
		call := client.Call{Name: moves[(e.steps+p.number)%len(moves)], RequestID: fmt.Sprintf("%s-%d", e.id, e.steps+1)}
		var answer client.Answer
		sent, during := time.Now(), p.phase.Load()
		status, again := p.send(p.secret, http.MethodPost, "/v1/episodes/"+e.id+"/calls", call, &answer)
		p.note(during, time.Since(sent), again)
		if status != http.StatusOK || answer.Step != e.steps+1 {
			p.faults.add("episode %s: status %d, told of step %d after %d", e.id, status, answer.Step, e.steps)
			return
		}
		e.steps++
		if answer.Terminated || answer.Truncated {
			if status, again := p.send(p.secret, http.MethodDelete, "/v1/episodes/"+e.id, nil, nil); status != http.StatusNoContent && !again {
				p.faults.add("deleting an episode: %d", status)
			}
			if !p.begin(i) {
				return
			}
		}
	}
}

func (p *player) note(during int32, wait time.Duration, again bool) {
	if again {
		p.longest = max(p.longest, wait)
		return
	}
	p.waits[during] = append(p.waits[during], wait)
}

// check asks for every episode and counts its steps.
func (p *player) check() {
	for _, e := range p.episodes {
		var state client.State
		if status, _ := p.send(p.secret, http.MethodGet, "/v1/episodes/"+e.id, nil, &state); status != http.StatusOK || state.Step != e.steps {
			p.faults.add("episode %s has %d steps, its player was told of %d (status %d)", e.id, state.Step, e.steps, status)
		}
	}
}
