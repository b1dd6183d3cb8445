package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// connectionAttacks are connections that do not keep to HTTP, or stop in the
// middle.
func connectionAttacks() []attack {
	raw := func(name, target string, accept []int, sent func(a *attacker) string) attack {
		return attack{name: name, target: target, accept: accept, cut: true, send: func(a *attacker) { a.raw(sent(a)) }}
	}
	fixed := func(text string) func(*attacker) string { return func(*attacker) string { return text } }
	head := "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\n"
	return []attack{
		raw("a header of 1 MiB", "memory", []int{400, 431}, fixed("GET /v1/envs HTTP/1.1\r\nHost: localhost\r\nX-Long: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")),
		raw("100,000 headers", "memory", []int{400, 431}, fixed("GET /v1/envs HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat("X: y\r\n", 100_000)+"\r\n")),
		raw("a long path", "memory", []int{400, 404, 414, 431}, fixed("GET /"+strings.Repeat("x", 60_000)+" HTTP/1.1\r\nHost: localhost\r\n\r\n")),
		raw("two lengths", "two readings of one request", []int{400}, fixed(head+"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}")),
		raw("a length and chunks", "two readings of one request", []int{400, 401}, fixed(head+"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/envs HTTP/1.1\r\n")),
		raw("bad chunks", "two readings of one request", []int{400, 401}, fixed(head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n")),
		raw("two hosts", "two readings of one request", []int{400, 421}, fixed("GET /v1/envs HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n")),
		raw("no HTTP", "the connection", []int{400}, fixed("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")),
		raw("an upgrade to HTTP/2", "the connection", []int{400, 401, 404, 405, 421, 505}, fixed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
		{name: "bodies that stop", target: "connections", accept: []int{400, 408}, cut: true, send: func(a *attacker) {
			conn, err := a.dial()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "%sAuthorization: Bearer %s\r\nContent-Length: 100000\r\n\r\n{\"task_id\"", head, a.secret)
		}},
		{name: "answers that are broken off", target: "the handlers", accept: []int{200}, cut: true, send: func(a *attacker) {
			conn, err := a.dial()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "GET /v1/envs/gridworld/tasks?level=4&n=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", a.secret)
			_, _ = conn.Read(make([]byte, 100))
		}},
	}
}

// raw sends text over a connection of its own and checks the status of the
// answer, where there is one.
func (a *attacker) raw(text string) {
	conn, err := a.dial()
	if err != nil {
		return
	}
	began := time.Now()
	_ = conn.SetDeadline(began.Add(time.Minute))
	_, _ = io.WriteString(conn, text) // the server may have closed its side already
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	timeout := net.Error(nil)
	switch {
	case a.ctx.Err() != nil:
	case errors.As(err, &timeout) && timeout.Timeout():
		a.broken("neither an answer nor the end of the connection within a minute")
	case err != nil:
		a.note(0, len(text), 0, time.Since(began))
	default:
		_ = response.Body.Close()
		a.note(response.StatusCode, len(text), 0, time.Since(began))
		a.check(answer{status: response.StatusCode, header: response.Header})
	}
}

// The numbers of what is held at the same time.
const (
	heldStreams  = 70
	heldReaders  = 20
	heldWriters  = 20
	mostEpisodes = 4500 // more than a server takes by default
	mostSignIns  = 1005
)

// heldAttacks hold as much as they get for as long as a phase lasts.
func heldAttacks() []attack {
	return []attack{
		{name: "held: episodes", target: "the table of episodes", held: true, accept: []int{201}, send: func(a *attacker) {
			for n := 0; n < mostEpisodes && a.ctx.Err() == nil; n++ {
				if got := a.ask(message{"POST", "/v1/episodes", []byte(`{"task_id":"gridworld/4/` + strconv.Itoa(n) + `"}`), nil}); got.status != http.StatusCreated {
					return
				}
			}
		}},
		{name: "held: MCP sessions", target: "the table of sessions", held: true, accept: []int{200, 422}, send: func(a *attacker) {
			for n := 0; n < mostEpisodes && a.ctx.Err() == nil; n++ {
				if got := a.ask(message{"POST", "/mcp", []byte(initializing), mcpHeaders("")}); got.header.Get(sessionHeader) == "" || got.status != http.StatusOK {
					return
				}
			}
		}},
		{name: "held: event streams of MCP", target: "streams", held: true, accept: []int{200, 404, 409, 422}, send: func(a *attacker) {
			begun := a.ask(message{"POST", "/mcp", []byte(initializing), mcpHeaders("")})
			id := begun.header.Get(sessionHeader)
			for n := 0; n < heldStreams && id != ""; n++ {
				a.stream("GET /mcp", "", mcpHeaders(id)...)
			}
		}},
		{name: "held: scoring streams", target: "streams", held: true, accept: []int{200}, send: func(a *attacker) {
			for range heldStreams {
				a.stream("POST /v1/score/stream", "1\r\n{\r\n", "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")
			}
		}},
		{name: "held: event streams of a training", target: "streams", held: true, accept: []int{200, 201}, send: func(a *attacker) {
			got := a.ask(message{"POST", "/v1/policy/runs", []byte(`{"updates":1000000}`), nil})
			if at := got.header.Get("Location"); got.status == http.StatusCreated {
				a.hold(cancelling{a, at})
				a.ask(message{"POST", at + "/pause", nil, nil})
				for range heldStreams {
					a.stream("GET "+at+"/events", "")
				}
			}
		}},
		{name: "held: sign-ins", target: "visits", held: true, accept: []int{303}, send: func(a *attacker) {
			form := []byte("token=" + a.secret + "&next=/")
			for n := 0; n < mostSignIns && a.ctx.Err() == nil; n++ {
				a.ask(message{"POST", "/lab/signin", form, []string{"Content-Type: application/x-www-form-urlencoded", "Authorization: "}})
			}
		}},
		{name: "held: slow readers", target: "connections", held: true, accept: []int{200}, send: func(a *attacker) {
			for range heldReaders {
				a.stream("GET /v1/envs/gridworld/tasks?level=4&n=1000", "")
			}
		}},
		{name: "held: slow writers", target: "connections", held: true, accept: []int{200}, send: func(a *attacker) {
			var open []net.Conn
			for range heldWriters {
				if conn := a.stream("POST /v1/score", "{", "Content-Length: 60000000"); conn != nil {
					open = append(open, conn)
				}
			}
			for a.wait(0) == nil { // a byte each in turn, until the server has closed them all
				alive := false
				for _, conn := range open {
					_, err := io.WriteString(conn, " ")
					alive = alive || err == nil
				}
				if !alive {
					return
				}
			}
		}},
	}
}

// stream opens a connection, sends a request, or its beginning, and reads
// nothing. The connection is held until the end of the phase.
func (a *attacker) stream(request, rest string, headers ...string) net.Conn {
	conn, err := a.dial()
	if err != nil {
		return nil
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
	head := request + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + a.secret + "\r\n"
	head += strings.Join(append(headers, "", ""), "\r\n")
	if _, err := io.WriteString(conn, head+rest); err != nil {
		a.unanswered(err)
		return nil
	}
	a.results.opened(a.row.name)
	return conn
}
