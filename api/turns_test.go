package api_test

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
)

// TestHeavyRequestsTakeTurns fills all places with scorings that do not end.
// Other heavy requests wait, and are refused when that takes too long; light
// ones are answered meanwhile.
func TestHeavyRequestsTakeTurns(t *testing.T) {
	places := max(1, runtime.GOMAXPROCS(0)/2)
	faults := &tallyFaults{entered: make(chan struct{}), release: make(chan struct{})}
	f := serve(t, api.Config{Specs: tools.Specs{tallySpec(faults)}, CallTimeout: 200 * time.Millisecond})
	held := make(chan answer)
	for range places {
		go func() {
			held <- f.ask("POST", "/v1/score", `{"groups":[{"id":"g","task_id":"tally/0/2","completions":[{"family":"hermes","text":"<tool_call>{\"name\":\"break\",\"arguments\":{\"how\":\"wait\"}}</tool_call>"}]}]}`)
		}()
	}
	for range places {
		<-faults.entered
	}
	for path, body := range map[string]string{"/v1/parse": `{"text":"x"}`, "/v1/score": `{"groups":[]}`, "/get_reward": `{"query":[],"prompts":[],"labels":[]}`, "/v1/audit": `{}`} {
		got := f.ask("POST", path, body)
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
			t.Errorf("POST %s without a turn: status %d, Retry-After %q; want 503, 1", path, got.status, got.header.Get("Retry-After"))
		}
		checkProblem(t, "POST", got)
	}
	if got := f.ask("GET", "/v1/envs/tally/tasks?n=1", ""); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("tasks without a turn: status %d, Retry-After %q; want 503, 1", got.status, got.header.Get("Retry-After"))
	}
	for _, path := range []string{"/lab/playground", "/lab/playground/reading", "/lab/playground/audit"} {
		got := f.ask("POST", path, "text=x", "Content-Type: application/x-www-form-urlencoded")
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
			t.Errorf("POST %s without a turn: status %d, Retry-After %q; want 503, 1", path, got.status, got.header.Get("Retry-After"))
		}
	}
	f.begin("tally/0/1")
	close(faults.release)
	for range places {
		<-held
	}
	if got := f.ask("POST", "/v1/parse", `{"text":"x"}`); got.status != http.StatusOK {
		t.Errorf("afterwards: status %d, %s; want 200", got.status, got.body)
	}
	for _, path := range []string{"/lab/playground", "/lab/playground/reading"} {
		if got := f.ask("POST", path, "text=x", "Content-Type: application/x-www-form-urlencoded"); got.status != http.StatusOK {
			t.Errorf("POST %s afterwards: status %d, %.300s; want 200", path, got.status, got.body)
		}
	}
}
