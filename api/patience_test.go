package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// A report for which the agents beside the model take too long is to be had
// later: they play on. The files of trials alone do not wait for them.
func TestReportsAreToBeHadLater(t *testing.T) {
	spec, shut := testkit.WithGate(arithmetic.Spec())
	f := serve(t, api.Config{Specs: tools.Specs{spec}, Data: t.TempDir(), CallTimeout: 100 * time.Millisecond})
	if got := f.ask("POST", "/v1/evals", `{"run":"x","model":"random","route":"agent","levels":["0"],"n":2}`); got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for !strings.Contains(f.ask("GET", "/v1/evals/x", "").body, `"state":"done"`) {
		time.Sleep(10 * time.Millisecond)
	}
	release := shut()
	for format, want := range map[string]int{"json": 503, "html": 503, "md": 503, "text": 503, "csv": 200, "junit": 200} {
		if got := f.ask("GET", "/v1/evals/x/report?format="+format, ""); got.status != want || want == 503 && got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", format, got.status, got.body)
		}
	}
	release()
	for f.ask("GET", "/v1/evals/x/report", "").status == http.StatusServiceUnavailable {
		time.Sleep(10 * time.Millisecond)
	}
	if got := f.ask("GET", "/v1/evals/x/report", ""); got.status != http.StatusOK || !strings.Contains(got.body, `"trained policy"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
