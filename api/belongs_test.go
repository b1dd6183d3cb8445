package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestIDsOfOthersAreUnknown asks, with the token of another, every operation of
// the document that names an id. The answer is that to an id which does not
// exist, and nothing changes.
func TestIDsOfOthersAreUnknown(t *testing.T) {
	roles := []string{api.Play, api.Score, api.Train}
	f := serve(t, api.Config{Data: t.TempDir(), Specs: tools.Specs{arithmetic.Spec()}, Tokens: []api.Token{token(t, "ann", roles...), token(t, "eve", roles...)}})
	doc := readContract(t, f)
	begin := func(path, body string) string {
		got := f.ask("POST", path, body, bearer("ann"))
		if got.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		return got.header.Get("Location")
	}
	owned := map[string]string{
		"/v1/episodes":    begin("/v1/episodes", `{"task_id":"arithmetic/2/17"}`),
		"/v1/policy/runs": begin("/v1/policy/runs", `{"stages":["0"],"updates":1000000}`),
		"/v1/evals":       begin("/v1/evals", `{"model":"oracle","route":"agent","run":"anns","levels":["0"],"n":1}`),
	}
	f.ask("POST", owned["/v1/policy/runs"]+"/pause", "", bearer("ann"))
	end(t, f, owned["/v1/evals"])
	// read gives a thing as its owner sees it, without the count of updates: a run
	// that is paused still finishes the update that it is at.
	read := func(path string) string {
		return regexp.MustCompile(`"updates":\d+,?`).ReplaceAllString(f.ask("GET", path, "", bearer("ann")).body, "")
	}
	before := map[string]string{}
	for list, path := range owned {
		before[list] = read(path)
	}
	asked := 0
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		list, rest, ok := strings.Cut(path, "/{id}")
		if !ok {
			continue
		}
		for method, op := range doc.Paths[path] {
			asked++
			body := exampleBody(t, op)
			query := ""
			if op.OperationID == "compare-evaluations" {
				query = "?with=anns"
			}
			method = strings.ToUpper(method)
			got := f.ask(method, owned[list]+rest+query, body, bearer("eve"))
			missing := f.ask(method, list+"/missing"+rest+query, body, bearer("eve"))
			if got.status != http.StatusNotFound || shape(got) != shape(missing) {
				t.Errorf("%s %s: %d %s, and of none %d %s", method, path, got.status, got.body, missing.status, missing.body)
			}
			doc.check(t, method, path, got)
		}
	}
	for _, act := range []string{`{"task_id":"arithmetic/0/17","run":"` + strings.TrimPrefix(owned["/v1/policy/runs"], "/v1/policy/runs/") + `"}`} {
		if got := f.ask("POST", "/v1/policy/act", act, bearer("eve")); got.status != http.StatusNotFound {
			t.Errorf("acting by another's run: %d %s", got.status, got.body)
		}
	}
	for list, path := range owned {
		if got := read(path); got != before[list] {
			t.Errorf("%s was %s, is %s", path, before[list], got)
		}
		if got := f.ask("GET", list, "", bearer("eve")); !strings.Contains(got.body, ":[]") {
			t.Errorf("another sees in %s: %s", list, got.body)
		}
	}
	if got := f.ask("GET", "/v1/episodes/export.ndjson", "", bearer("eve")); got.body != "" {
		t.Errorf("another exports %s", got.body)
	}
	if asked < 15 {
		t.Errorf("%d operations name an id", asked)
	}
}

// end waits until an evaluation of ann's has ended.
func end(t *testing.T, f *fixture, path string) {
	t.Helper()
	c := speaker(t, f.url, secretOf("ann"))
	for _, err := range c.WatchEval(t.Context(), strings.TrimPrefix(path, "/v1/evals/"), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// exampleBody is the body of an operation's example.
func exampleBody(t *testing.T, op operation) string {
	t.Helper()
	example := op.RequestBody.Content["application/json"].Example
	if example == nil {
		return ""
	}
	var body bytes.Buffer
	if err := json.Compact(&body, example); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// TestEveryRouteIsGuarded asks all routes, those outside of the document too, as
// a page elsewhere would: by a name that leads here, and from another origin.
func TestEveryRouteIsGuarded(t *testing.T) {
	f := guarded(t, api.Config{Data: t.TempDir(), Specs: tools.Specs{arithmetic.Spec()}})
	root, asked := f.signIn("root"), 0
	for _, route := range api.Routes(f.server) {
		method, path, _ := strings.Cut(route, " ")
		path = strings.ReplaceAll(strings.ReplaceAll(path, ":", ""), "*", "x")
		for _, test := range []struct {
			name, header string
			status       int
		}{
			{"rebound name", "Host: evil.example", http.StatusMisdirectedRequest},
			{"rebound name that begins right", "Host: localhost.evil.example:80", http.StatusMisdirectedRequest},
			{"another origin", "Origin: http://evil.example", http.StatusForbidden},
			{"another port", "Origin: http://127.0.0.1:1", http.StatusForbidden},
			{"another site", "Sec-Fetch-Site: cross-site", http.StatusForbidden},
		} {
			if test.status == http.StatusForbidden && method == http.MethodGet {
				continue // reading is what links do
			}
			asked++
			got := f.ask(method, path, "", root, test.header)
			if got.status != test.status {
				t.Errorf("%s, %s: %d, want %d: %.200s", route, test.name, got.status, test.status, got.body)
				continue
			}
			checkProblem(t, method, got)
		}
	}
	if t.Logf("%d requests", asked); asked < 200 {
		t.Errorf("%d requests only", asked)
	}
}
