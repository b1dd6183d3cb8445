package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"toolgym/api"
)

func TestMetricsCount(t *testing.T) {
	f := serve(t, api.Config{})
	episode := f.begin("tally/0/3")
	f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`)
	f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":"x"}}`)
	f.ask("POST", "/v1/score", `{"groups":[{"id":"g","task_id":"tally/0/1","completions":[{"text":"no call"},{"text":"none"}]}]}`)
	line := `{"group":"g","task_id":"tally/0/1","text":"no call"}`
	f.ask("POST", "/v1/score/stream", line+"\n"+line+"\nno line\n", "Content-Type: application/x-ndjson")
	f.ask("GET", "/nowhere/7", "")
	f.ask("FROB", episode, "")
	got := f.ask("GET", "/metrics", "", "Host: localhost:1")
	for _, line := range []string{
		`toolgym_episodes_begun_total{env="tally"} 1`, `toolgym_episodes_live 1`,
		`toolgym_steps_total{env="tally",outcome="ok"} 1`, `toolgym_steps_total{env="tally",outcome="mistake"} 1`,
		`toolgym_completions_total{outcome="scored"} 4`, `toolgym_completions_total{outcome="unscored"} 1`, `toolgym_reward_count 4`, `toolgym_policy_runs_live 0`, `toolgym_evaluations_live 0`,
		`toolgym_step_reward_sum{env="tally"} -0.2`,
		`toolgym_http_requests_total{code="200",host="",method="POST",url="/v1/episodes/:id/calls"} 2`,
		`toolgym_http_requests_total{code="404",host="",method="GET",url=""} 1`,
		`toolgym_http_requests_total{code="405",host="",method="other",url="/v1/episodes/:id"} 1`,
	} {
		if !strings.Contains(got.body, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if t.Failed() {
		t.Log(got.body)
	}
}

func TestMetricsAreTheAdministrators(t *testing.T) {
	f := guarded(t, api.Config{})
	for header, want := range map[string]int{bearer("root"): 200, bearer("alice"): 403, "X-Nobody: 1": 401} {
		if got := f.ask("GET", "/metrics", "", header); got.status != want {
			t.Errorf("%s: %d, want %d", header, got.status, want)
		}
	}
}

// TestTracesAreSent to a collector, as the variables of the environment say.
func TestTracesAreSent(t *testing.T) {
	var mu sync.Mutex
	spans := map[string]string{} // name → parent
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(text, &sent) != nil {
			t.Errorf("%s: no spans in %d bytes, %v", r.URL, len(text), err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					spans[span.GetName()] = string(span.GetParentSpanId())
				}
			}
		}
	}))
	defer receiver.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	if !api.TracesWanted() {
		t.Error("the variable goes unseen")
	}
	f := serve(t, api.Config{Traces: true})
	f.ask("GET", f.begin("tally/0/3"), "", "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if err := f.server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if parent, ok := spans["POST /v1/episodes"]; !ok || parent != "" {
		t.Errorf("spans %q", spans)
	}
	if spans["GET /v1/episodes/:id"] != "\xb7\xad\x6b\x71\x69\x20\x33\x31" {
		t.Errorf("spans %q", spans)
	}
	t.Setenv("OTEL_SDK_DISABLED", "true")
	if api.TracesWanted() {
		t.Error("traces are switched off, and wanted")
	}
}

func TestReadinessTellsWhy(t *testing.T) {
	data := t.TempDir()
	f := serve(t, api.Config{Data: data})
	if got := f.ask("GET", "/readyz", ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := onDatabase(t, data).Exec(`CREATE TRIGGER failing BEFORE UPDATE ON probe BEGIN SELECT RAISE(ABORT, 'the secret disk'); END`); err != nil {
		t.Fatal(err)
	}
	got := f.ask("GET", "/readyz", "")
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "database takes no writes") || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(f.logged(), "the secret disk") {
		t.Error("the log does not say why")
	}
}
