package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"toolgym/api/client"
	"toolgym/tools"
)

// What the client does against a real server is tested in package api. Here are
// the answers that a toolgym server never gives, but something on the way does.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConfigIsValidated(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8080", "localhost", "ftp://localhost", "http://", "http://localhost?a=b", ":"} {
		_, err := client.New(client.Config{URL: url})
		if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
			t.Errorf("%q: %v, want it refused", url, err)
		}
	}
	if _, err := client.New(client.Config{URL: "http://localhost", Attempts: -1}); err == nil {
		t.Error("a negative number of attempts is taken")
	}
}

// answering serves the same answer to every request and counts them.
func answering(t *testing.T, status int, header map[string]string, body string) (*client.Client, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL + "/", Attempts: 3, Pause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, asked
}

func TestRepetition(t *testing.T) {
	start := func(c *client.Client) error { _, err := c.Start(context.Background(), "a/0/1"); return err }
	read := func(c *client.Client) error { _, err := c.Envs(context.Background()); return err }
	ready := func(c *client.Client) error { return c.Ready(context.Background()) }
	tests := []struct {
		name   string
		do     func(*client.Client) error
		status int
		wait   string
		asked  int64
	}{
		{"a read that is throttled", read, 429, "0", 3},
		{"a read while the server goes", read, 503, "", 3},
		{"a read through a broken proxy", read, 502, "nonsense", 3},
		{"a read that is told to wait too long", read, 503, "31", 1},
		{"a read that is refused", read, 404, "", 1},
		{"a read that fails", read, 500, "", 1},
		{"readiness, which is asked for as it is", ready, 503, "0", 1},
		{"a start, which could happen twice", start, 503, "0", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, asked := answering(t, test.status, map[string]string{"Retry-After": test.wait}, "")
			if err := test.do(c); err == nil || !strings.Contains(err.Error(), http.StatusText(test.status)) {
				t.Errorf("error %v", err)
			}
			if got := asked.Load(); got != test.asked {
				t.Errorf("asked %d times, want %d", got, test.asked)
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	problem := map[string]string{"Content-Type": "application/problem+json"}
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   string
	}{
		{"HTML of a proxy", 404, map[string]string{"Content-Type": "text/html"}, "<h1>nginx</h1>", "404 Not Found"},
		{"problem that is no JSON", 404, problem, "{", "404 Not Found"},
		{"success that is no JSON", 200, nil, "{", "decoding the answer"},
		{"success of another shape", 200, nil, `{"envs":7}`, "decoding the answer"},
		{"schema that does not compile", 200, nil, `{"envs":[{"tools":[{"function":{"name":"f","parameters":{"type":7}}}]}]}`, "decoding the answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := answering(t, test.status, test.header, test.body)
			if _, err := c.Envs(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want something about %q", err, test.want)
			}
		})
	}
}

// TestWaitingEndsWithTheContext asks a server that says to wait, and gives up.
func TestWaitingEndsWithTheContext(t *testing.T) {
	c, asked := answering(t, 503, map[string]string{"Retry-After": "30"}, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Envs(ctx); !errors.Is(err, context.DeadlineExceeded) || asked.Load() > 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(client.Config{URL: server.URL, Attempts: 2, Pause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Envs(t.Context())
	if e := (*tools.Error)(nil); err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want an ordinary error", err)
	}
}

// TestEventsAreRead in the forms that servers and what is on the way give them.
func TestEventsAreRead(t *testing.T) {
	end := client.Event{ID: 1, Name: "end", Data: []byte("{}")}
	tests := []struct {
		name, body string
		want       []client.Event
		err        string
	}{
		{"nothing but the end", "id: 1\nevent: end\ndata: {}\n\n", []client.Event{end}, ""},
		{"behind comments and empty lines", "\n: still there\n\nretry: 5\n\nid:1\nevent:end\ndata:{}\n\n", []client.Event{end}, ""},
		{"with carriage returns", "id: 1\r\nevent: end\r\ndata: {}\r\n\r\n", []client.Event{end}, ""},
		{"data on two lines", "id: 1\nevent: end\ndata: {\ndata: }\n\n", []client.Event{{ID: 1, Name: "end", Data: []byte("{\n}")}}, ""},
		{"no more than the end", "id: 1\nevent: end\ndata: {}\n\nid: 2\ndata: {}\n\n", []client.Event{end}, ""},
		{"an id that is no number", "id: x\ndata: {}\n\n", nil, "the id of an event"},
		{"half an event", "id: 1\nevent: end\ndata: {}\n", nil, "unexpected EOF"},
		{"nothing at all", "", nil, "unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, asked := answering(t, http.StatusOK, map[string]string{"Content-Type": "text/event-stream"}, test.body)
			var got []client.Event
			var failed error
			for e, err := range c.WatchPolicyRun(t.Context(), "x", 0) {
				if failed = err; err == nil {
					got = append(got, e)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.err == "" && (failed != nil || asked.Load() != 1) || test.err != "" && (failed == nil || !strings.Contains(failed.Error(), test.err) || asked.Load() != 3) {
				t.Errorf("%v after %d requests, want %q", failed, asked.Load(), test.err)
			}
		})
	}
}

// TestRefusedEventsAreNotAskedForAgain, unless the refusal passes.
func TestRefusedEventsAreNotAskedForAgain(t *testing.T) {
	for status, want := range map[int]int64{404: 1, 422: 1, 500: 1, 429: 3, 503: 3} {
		c, asked := answering(t, status, map[string]string{"Retry-After": "0"}, "")
		n := 0
		for _, err := range c.WatchEval(t.Context(), "x", 7) {
			if n++; err == nil {
				t.Errorf("%d: an event", status)
			}
		}
		if n != 1 || asked.Load() != want {
			t.Errorf("%d: %d errors, asked %d times, want %d", status, n, asked.Load(), want)
		}
	}
}

// quietly answers with streams in which nothing comes, each of which lasts for
// ten minutes, and at last with the end.
type quietly struct{ asked int }

func (q *quietly) RoundTrip(r *http.Request) (*http.Response, error) {
	q.asked++
	body := ""
	if q.asked > 6 {
		body = "id: 1\nevent: end\ndata: {}\n\n"
	} else {
		time.Sleep(10 * time.Minute)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestQuietStreamsAreOpenedAgain, more often than a connection that fails.
func TestQuietStreamsAreOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &quietly{}
		c, err := client.New(client.Config{URL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: server}, Attempts: 3})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range c.WatchPolicyRun(t.Context(), "x", 0) {
			if err != nil || e.Name != "end" || server.asked != 7 {
				t.Errorf("event %+v, error %v after %d connections", e, err, server.asked)
			}
		}
	})
}
