package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An attack is a row of the table of hostile requests.
type attack struct {
	name   string
	target string // what it attacks
	accept []int  // statuses of the answers; 429 and 503 with a Retry-After are always acceptable
	// cut allows the server to close the connection without an answer, which is
	// due where a request is never sent as a whole, or is too large to be read.
	cut bool
	// held attacks open connections or fill a table at the beginning of a hostile
	// phase, and last until its end. The others are sent again and again.
	held bool
	send func(*attacker)
}

// A message is one hostile request of a row.
type message struct {
	method, path string
	body         []byte
	headers      []string // "Name: value"; Host sets the host of the request
}

// one is the send function of a row with one fixed request. The body is made
// when it is first needed, and shared.
func one(method, path string, body func() []byte, headers ...string) func(*attacker) {
	return func(a *attacker) { a.ask(message{method, path, body(), headers}) }
}

// text is a body that costs nothing to make.
func text(s string) func() []byte { return func() []byte { return []byte(s) } }

// An answer is what the server said to a message.
type answer struct {
	status int // 0 without an answer
	header http.Header
	start  []byte // of the body
}

// mostAnswer is how much of an answer an attacker reads before it hangs up.
const mostAnswer = 32 << 20

// ask sends a message, within the attacker's limits, and checks the answer.
func (a *attacker) ask(m message) answer {
	if a.wait(len(m.body)) != nil {
		return answer{}
	}
	request, err := http.NewRequestWithContext(a.ctx, m.method, *a.address.Load()+m.path, bytes.NewReader(m.body))
	if err != nil {
		a.broken("the request cannot be made: %v", err)
		return answer{}
	}
	a.dress(request, m)
	sent := time.Now()
	response, err := a.sender.Do(request)
	if err != nil {
		a.unanswered(err)
		return answer{}
	}
	got := answer{status: response.StatusCode, header: response.Header}
	got.start, _ = io.ReadAll(io.LimitReader(response.Body, 64<<10))
	rest, err := io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswer))
	_ = response.Body.Close() // it was read, or is to be broken off
	if err != nil {
		a.unanswered(err)
	}
	a.note(got.status, len(m.body), len(got.start)+int(rest), time.Since(sent))
	a.check(got)
	return got
}

// dress sets the headers of a request.
func (a *attacker) dress(request *http.Request, m message) {
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+a.secret)
	for _, line := range m.headers {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "Host":
			request.Host = value
		case value == "":
			request.Header.Del(name)
		default:
			request.Header.Set(name, value)
		}
	}
}

// check reports an answer that the row does not allow.
func (a *attacker) check(got answer) {
	switch {
	case got.status == http.StatusTooManyRequests, got.status == http.StatusServiceUnavailable:
		if got.header.Get("Retry-After") == "" {
			a.broken("status %d without Retry-After: %.200s", got.status, got.start)
		}
	case !slices.Contains(a.row.accept, got.status):
		a.broken("status %d, want one of %v: %.200s", got.status, a.row.accept, got.start)
	}
}

// unanswered reports a request without an answer, unless the phase ended or the
// row allows it.
func (a *attacker) unanswered(err error) {
	// A connection's deadline may pass just before the context's own timer fires.
	if deadline, ok := a.ctx.Deadline(); a.ctx.Err() != nil || ok && !time.Now().Before(deadline) {
		return
	}
	a.note(0, 0, 0, 0)
	if !a.row.cut {
		a.broken("no answer: %v", err)
	}
}

// dial opens a connection of its own for what is not HTTP, and closes it when
// the attacker is done with the row, or the phase ends.
func (a *attacker) dial() (net.Conn, error) {
	if err := a.wait(0); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(a.ctx, "tcp", strings.TrimPrefix(*a.address.Load(), "http://"))
	if err != nil {
		a.unanswered(err)
		return nil, fmt.Errorf("dialling: %w", err)
	}
	a.hold(conn)
	return conn, nil
}
