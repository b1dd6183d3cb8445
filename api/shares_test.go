package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const initializeMCP = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// hold sends a request with a body that does not end after the text, and keeps
// it open until the test ends or the returned function is called. It returns
// the answer, whose body is read if it is not 200.
func (f *fixture) hold(method, path, text string, headers ...string) (answer, func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	f.t.Cleanup(cancel)
	var body io.Reader
	if text != "" {
		reader, writer := io.Pipe()
		go func() { _, _ = io.WriteString(writer, text) }()
		f.t.Cleanup(func() { _ = writer.Close() })
		body = reader
	}
	r, err := http.NewRequestWithContext(ctx, method, f.url+path, body)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := f.do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = response.Body.Close() })
	got := answer{status: response.StatusCode, header: response.Header}
	if response.StatusCode != http.StatusOK {
		read, err := io.ReadAll(response.Body)
		if err != nil {
			f.t.Fatal(err)
		}
		got.body = string(read)
	}
	return got, cancel
}

// A resource is one of which a token has a share: how to take one unit, as the
// n-th one, which is kept.
type resource struct {
	name   string
	limits api.Config // for four units
	what   string     // in the error
	take   func(f *fixture, n int, headers ...string) answer
}

func resources() []resource {
	json := "Content-Type: application/json"
	return []resource{
		{"episodes", api.Config{MaxEpisodes: 4}, "live episodes", func(f *fixture, _ int, headers ...string) answer {
			return f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/5"}`, headers...)
		}},
		{"bytes of trajectories", api.Config{MaxMemory: 40_000}, "bytes of trajectories", func(f *fixture, _ int, headers ...string) answer {
			started := f.ask("POST", "/v1/episodes", `{"task_id":"tally/endless/1"}`, headers...)
			if started.status != http.StatusCreated {
				return started
			}
			return f.ask("POST", started.header.Get("Location")+"/messages", fmt.Sprintf(`{"content":%q}`, strings.Repeat("x", 10_000)), headers...)
		}},
		{"MCP sessions", api.Config{MaxSessions: 4}, "MCP sessions", func(f *fixture, _ int, headers ...string) answer {
			return f.ask("POST", "/mcp?task_id=tally/endless/1", initializeMCP, append(headers, json, "Accept: application/json, text/event-stream")...)
		}},
		{"scoring streams", api.Config{MaxStreams: 4}, "scoring streams", func(f *fixture, _ int, headers ...string) answer {
			got, _ := f.hold("POST", "/v1/score/stream", addLine("a", 5)+addLine("b", 5), headers...)
			return got
		}},
		{"requests", api.Config{MaxConcurrent: 4}, "requests at the same time", func(f *fixture, _ int, headers ...string) answer {
			got, _ := f.hold("POST", "/v1/score/stream", addLine("a", 5)+addLine("b", 5), headers...)
			return got
		}},
		{"event streams", api.Config{MaxEvents: 4, MaxRuns: 100}, "event streams", func(f *fixture, _ int, headers ...string) answer {
			got, _ := f.hold("GET", f.startRun(`{"updates":1000000}`, headers...)+"/events", "", headers...)
			return got
		}},
		{"policy runs", api.Config{MaxRuns: 4}, "runs under way", func(f *fixture, _ int, headers ...string) answer {
			return f.ask("POST", "/v1/policy/runs", `{"updates":1000000}`, headers...)
		}},
		{"bodies to be scored", api.Config{MaxScoring: 4000}, "bytes of bodies to be scored", func(f *fixture, _ int, headers ...string) answer {
			return f.slowBody("/v1/score", 1000, headers...)
		}},
		{"bodies", api.Config{MaxBodies: 4000}, "bytes of request bodies", func(f *fixture, _ int, headers ...string) answer {
			return f.slowBody("/v1/parse", 1000, headers...)
		}},
	}
}

// slowBody sends the head of a request and keeps its body back. It returns the
// refusal, or an answer with status 100 when the server waits for the body.
func (f *fixture) slowBody(path string, length int, headers ...string) answer {
	f.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n%s\r\n",
		path, length, strings.Join(append(headers, ""), "\r\n"))
	if _, err := io.WriteString(conn, head); err != nil {
		f.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got := answer{status: response.StatusCode, header: response.Header}
	if got.status != http.StatusContinue {
		text, err := io.ReadAll(response.Body)
		if err != nil {
			f.t.Fatal(err)
		}
		got.body = string(text)
	}
	return got
}

// TestTokensHaveShares takes all that one token may have of each resource. Then
// it is refused, and another token is not; when both have their shares, a third
// hears that nothing is left.
func TestTokensHaveShares(t *testing.T) {
	for _, resource := range resources() {
		t.Run(resource.name, func(t *testing.T) {
			config := resource.limits
			for _, name := range []string{"ann", "ben", "cat"} {
				config.Tokens = append(config.Tokens, token(t, name, api.Play, api.Score, api.Train))
			}
			config.Specs = tools.Specs{tallySpec(nil), arithmetic.Spec()}
			f := serve(t, config)
			n := 0
			take := func(who string, want int) {
				t.Helper()
				n++
				got := resource.take(f, n, bearer(who))
				if want == http.StatusOK && got.status < 300 {
					return
				}
				if got.status != want || want >= 400 && got.header.Get("Retry-After") == "" || !strings.Contains(got.body, resource.what) {
					t.Errorf("take %d, by %s: status %d, headers %v, %s; want %d about %s", n, who, got.status, got.header, got.body, want, resource.what)
				}
			}
			take("ann", http.StatusOK)
			take("ann", http.StatusOK)
			take("ann", http.StatusTooManyRequests)
			take("ben", http.StatusOK)
			take("ben", http.StatusOK)
			if resource.name == "requests" {
				return // all further ones are refused before a token is looked at
			}
			take("ben", http.StatusTooManyRequests)
			take("cat", http.StatusServiceUnavailable)
		})
	}
}

// TestWithoutTokensThereIsOneShare: whoever reaches the loopback may use all.
func TestWithoutTokensThereIsOneShare(t *testing.T) {
	for _, resource := range resources() {
		t.Run(resource.name, func(t *testing.T) {
			config := resource.limits
			config.Specs = tools.Specs{tallySpec(nil), arithmetic.Spec()}
			f := serve(t, config)
			for n := range 4 {
				if got := resource.take(f, n); got.status >= 300 {
					t.Fatalf("take %d: status %d, %s", n, got.status, got.body)
				}
			}
			if got := resource.take(f, 5); got.status != http.StatusServiceUnavailable {
				t.Errorf("beyond the limit: status %d, %s", got.status, got.body)
			}
		})
	}
}

// TestEndedEpisodesOfOthersStay fills the table as one token. That never ends
// what belongs to another; a token with less than an equal part may take the
// place of an ended episode of one with more.
func TestEndedEpisodesOfOthersStay(t *testing.T) {
	f := serve(t, api.Config{MaxEpisodes: 8, Tokens: []api.Token{token(t, "ann", api.Play), token(t, "ben", api.Play), token(t, "cat", api.Play), token(t, "dan", api.Play)}})
	start := func(who string) answer {
		return f.ask("POST", "/v1/episodes", `{"task_id":"tally/spoken/1"}`, bearer(who))
	}
	ended := func(who string) string {
		t.Helper()
		path := start(who).header.Get("Location")
		if got := f.ask("POST", path+"/messages", `{"content":"done"}`, bearer(who)); !strings.Contains(got.body, `"terminated":true`) {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return path
	}
	bens := ended("ben")
	var anns []string
	for range 20 {
		f.wait(time.Second)
		anns = append(anns, ended("ann"))
	}
	for range 4 {
		ended("cat")
	}
	if got := f.ask("GET", bens, "", bearer("ben")); got.status != http.StatusOK {
		t.Fatalf("ben's ended episode after ann's flood: status %d", got.status)
	}
	if got := f.ask("GET", anns[15], "", bearer("ann")); got.status != http.StatusGone {
		t.Fatalf("ann's oldest episodes: status %d; want %d", got.status, http.StatusGone)
	}
	for range 2 { // the table is full: ann has four, cat three, ben one
		if got := start("dan"); got.status != http.StatusCreated {
			t.Errorf("a token with less than an equal part: status %d, %s", got.status, got.body)
		}
	}
	if got := f.ask("GET", bens, "", bearer("ben")); got.status != http.StatusOK {
		t.Errorf("ben's ended episode: status %d", got.status)
	}
}

// TestExpiredEpisodesOfOthersAreRemembered lets episodes of one token expire
// until all that is remembered would be its own.
func TestExpiredEpisodesOfOthersAreRemembered(t *testing.T) {
	f := serve(t, api.Config{MaxEpisodes: 2, Tokens: []api.Token{token(t, "ann", api.Play), token(t, "ben", api.Play)}})
	start := func(who string) string {
		return f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/1"}`, bearer(who)).header.Get("Location")
	}
	bens := start("ben")
	for range 20 {
		f.wait(30 * time.Minute)
		start("ann")
	}
	if got := f.ask("GET", bens, "", bearer("ben")); got.status != http.StatusGone {
		t.Errorf("status %d; want %d", got.status, http.StatusGone)
	}
}

// TestStreamsAreFreed: a stream whose client has gone, and one in which nothing
// comes, give their place to others.
func TestStreamsAreFreed(t *testing.T) {
	f := trainer(t, api.Config{MaxEvents: 1, MaxRuns: 9, StreamTimeout: 300 * time.Millisecond})
	path := f.startRun(`{"updates":1000000}`)
	if got := f.ask("POST", path+"/pause", ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	f.idle(path)
	until := func(what string, want int) {
		t.Helper()
		for {
			got, leave := f.hold("GET", path+"/events", "")
			leave()
			if got.status == want {
				return
			}
			if t.Context().Err() != nil {
				t.Fatalf("%s: status %d", what, got.status)
			}
			time.Sleep(time.Millisecond) // the test's own limit is the failure
		}
	}
	_, leave := f.hold("GET", path+"/events", "")
	leave()
	until("after the client has gone", http.StatusOK)
	until("free again", http.StatusOK)
	f.hold("GET", path+"/events", "") // and stays, for a while
	until("after the idle time", http.StatusOK)
}

// idle waits until a run that is held makes no more updates.
func (f *fixture) idle(path string) {
	f.t.Helper()
	for before := ""; ; {
		now := f.ask("GET", path, "").body
		if now == before {
			return
		}
		before = now
		time.Sleep(20 * time.Millisecond)
	}
}

// TestMCPSessionsThatAreOverMakeRoom: clients often leave theirs open.
func TestMCPSessionsThatAreOverMakeRoom(t *testing.T) {
	f := serve(t, api.Config{MaxSessions: 1})
	headers := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}
	begin := func() string {
		t.Helper()
		got := f.ask("POST", "/mcp?task_id=tally/0/1", initializeMCP, headers...)
		if got.status != http.StatusOK {
			t.Fatalf("status %d, %s", got.status, got.body)
		}
		return got.header.Get("Mcp-Session-Id")
	}
	first := begin()
	again := f.ask("POST", "/mcp", initializeMCP, append(headers, "Mcp-Session-Id: "+first)...)
	if !strings.Contains(again.body, "error") {
		t.Errorf("a session that is initialized twice: %d %s", again.status, again.body)
	}
	f.ask("POST", "/v1/episodes/"+first+"/calls", `{"name":"done"}`)
	second := begin() // the first has ended
	f.ask("DELETE", "/v1/episodes/"+second, "")
	begin() // the second has no episode any more
	if got := f.ask("POST", "/mcp?task_id=tally/0/1", initializeMCP, headers...); got.status != http.StatusServiceUnavailable {
		t.Errorf("a session beside one that is played: status %d, %s", got.status, got.body)
	}
}
