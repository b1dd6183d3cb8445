package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/api/client"
)

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
