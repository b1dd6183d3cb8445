package api_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"toolgym/api"
)

// TestFaultsStayInside lets an environment fail in each way. The client gets a
// request id and nothing else, the log gets the cause once, and the episode goes
// on from before the call.
func TestFaultsStayInside(t *testing.T) {
	tests := []struct {
		how    string
		status int
		logged string
	}{
		{"error", http.StatusInternalServerError, "secret path /etc/tally"},
		{"panic", http.StatusInternalServerError, "the secret of the environment"},
		{"wait", http.StatusServiceUnavailable, "deadline exceeded"},
	}
	for _, test := range tests {
		bubble(t, test.how, func(t *testing.T) {
			f := unplugged(t, api.Config{})
			doc := readContract(t, f)
			episode := f.begin("tally/0/9")
			f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":4}}`)
			got := f.ask("POST", episode+"/calls", `{"name":"break","arguments":{"how":"`+test.how+`"},"request_id":"x"}`, "X-Request-Id: lost-42")
			doc.check(t, "POST", episode+"/calls", got)
			if got.status != test.status || strings.Contains(got.body, "secret") || !strings.Contains(got.body, "lost-42") {
				t.Errorf("%d %s", got.status, got.body)
			}
			if n := strings.Count(f.logged(), test.logged); n != 1 {
				t.Errorf("the cause is logged %d times: %s", n, f.logged())
			}
			if !strings.Contains(f.logged(), "level=ERROR") || !strings.Contains(f.logged(), "request_id=lost-42") {
				t.Errorf("the log has no error with the request id: %s", f.logged())
			}
			again := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":5},"request_id":"y"}`)
			if !strings.Contains(again.body, `"sum":9`) || !strings.Contains(again.body, `"step":2`) {
				t.Errorf("afterwards: %d %s", again.status, again.body)
			}
			fork := f.ask("POST", episode+"/fork", "")
			done := f.ask("POST", fork.header.Get("Location")+"/calls", `{"name":"done"}`)
			if !strings.Contains(done.body, `"reward":1,"terminated":true`) {
				t.Errorf("the fork: %d %s", done.status, done.body)
			}
		})
	}
}

// bubble runs a subtest in which time passes when everybody waits for it.
func bubble(t *testing.T, name string, do func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, do) })
}

func TestStatelessFaultStaysInside(t *testing.T) {
	f := serve(t, api.Config{})
	got := f.ask("POST", "/v1/tools/square/calls", `{"arguments":{"x":13}}`)
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(f.logged(), "secret host") {
		t.Errorf("the log does not say why: %s", f.logged())
	}
}

// TestRequestIDs: the caller's own where it is fit for a header and a log line.
func TestRequestIDs(t *testing.T) {
	tests := []struct {
		name, sent string
		kept       bool
	}{
		{"plain", "trace-7:a.b_c", true},
		{"128 letters", strings.Repeat("x", 128), true},
		{"129 letters", strings.Repeat("x", 129), false},
		{"blank", "a b", false},
		{"quote", `a"b`, false},
		{"beyond ASCII", "é", false},
		{"none", "", false},
	}
	f := serve(t, api.Config{})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("GET", "/healthz", "", "X-Request-Id: "+test.sent).header.Get("X-Request-Id")
			if (got == test.sent) != test.kept || got == "" {
				t.Errorf("sent %q, answered %q", test.sent, got)
			}
			if !strings.Contains(f.logged(), "request_id="+got) {
				t.Errorf("%q is not in the log: %s", got, f.logged())
			}
		})
	}
}
