package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestExamplesAreTrue sends the requests of the OpenAPI document to a server and
// wants the answers that stand beside them; what differs from day to day (ids
// and times) and the length of the tool list are left out.
func TestExamplesAreTrue(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	doc := readContract(t, f)
	example := func(method, path, status string) (request, answer string) {
		op := doc.Paths[path][method]
		return string(op.RequestBody.Content["application/json"].Example), string(op.Responses[status].Content["application/json"].Example)
	}
	request, want := example("post", "/v1/episodes", "201")
	started := f.ask(http.MethodPost, "/v1/episodes", request)
	same(t, "start", want, started.body, "id", "expires_at", "tools")
	request, want = example("post", "/v1/episodes/{id}/calls", "200")
	same(t, "call", want, f.ask(http.MethodPost, started.header.Get("Location")+"/calls", request).body)
	_, want = example("get", "/v1/episodes/{id}", "200")
	same(t, "state", want, f.ask(http.MethodGet, started.header.Get("Location"), "").body, "id", "expires_at", "tools")
	request, want = example("post", "/v1/episodes/{id}/messages", "200")
	same(t, "message", want, f.ask(http.MethodPost, f.begin("arithmetic/restraint/1")+"/messages", request).body)
	request, want = example("post", "/v1/tools/{name}/calls", "200")
	same(t, "tool", want, f.ask(http.MethodPost, "/v1/tools/multiply/calls", request).body)
	_, want = example("get", "/v1/envs/{env}/tasks", "200")
	same(t, "tasks", want, f.ask(http.MethodGet, "/v1/envs/arithmetic/tasks?level=2&seed=17", "").body)
	for _, path := range []string{"/v1/parse", "/v1/score", "/get_reward"} {
		request, want = example("post", path, "200")
		same(t, path, want, f.ask(http.MethodPost, path, request).body)
	}
	lines := func(m map[string]media) string {
		var line bytes.Buffer
		if err := json.Compact(&line, m["application/x-ndjson"].Example); err != nil {
			t.Fatal(err)
		}
		return line.String()
	}
	op := doc.Paths["/v1/score/stream"]["post"]
	same(t, "stream", lines(op.Responses["200"].Content), f.ask(http.MethodPost, "/v1/score/stream", lines(op.RequestBody.Content)).body, "advantage")
	_, want = example("get", "/healthz", "200")
	same(t, "health", want, f.ask(http.MethodGet, "/healthz", "").body)
	_, want = example("get", "/readyz", "200")
	same(t, "readiness", want, f.ask(http.MethodGet, "/readyz", "").body)
}

// same compares two objects but for some of their fields.
func same(t *testing.T, what, want, got string, but ...string) {
	t.Helper()
	read := func(text string) map[string]any {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatalf("%s: %v in %s", what, err, text)
		}
		for _, name := range but {
			if object[name] == nil {
				t.Errorf("%s: no %s in %s", what, name, text)
			}
			delete(object, name)
		}
		return object
	}
	if diff := cmp.Diff(read(want), read(got)); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}
