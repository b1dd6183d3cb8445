package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"toolgym/api"
)

// A trick is a hostile request that can be tried on any route. It says
// which status is right.
type trick struct {
	name    string
	headers []string
	body    string
	bodied  bool // only where there is a JSON body
	changes bool // only on methods that change something
	status  int
}

func tricks() []trick {
	return []trick{
		{name: "no token", status: 401},
		{name: "forged token", headers: []string{"Authorization: Bearer tg_GUESS"}, status: 401},
		{name: "token of another scheme", headers: []string{"Authorization: Basic cm9vdDpyb290"}, status: 401},
		{name: "rebound name", headers: []string{bearer("root"), "Host: evil.example"}, status: 421},
		{name: "page of another origin", headers: []string{bearer("root"), "Origin: http://evil.example"}, changes: true, status: 403},
		{name: "page of another site", headers: []string{bearer("root"), "Sec-Fetch-Site: cross-site"}, changes: true, status: 403},
		{name: "form", headers: []string{bearer("root"), "Content-Type: application/x-www-form-urlencoded"}, body: "a=b", bodied: true, status: 415},
		{name: "plain text", headers: []string{bearer("root"), "Content-Type: text/plain"}, body: "{}", bodied: true, status: 415},
		{name: "half a body", headers: []string{bearer("root")}, body: `{"a":`, bodied: true, status: 400},
		{name: "invalid UTF-8", headers: []string{bearer("root")}, body: "{\"\xff\":1}", bodied: true, status: 400},
		{name: "a key twice", headers: []string{bearer("root")}, body: `{"a":1,"a":2}`, bodied: true, status: 400},
		{name: "an unknown field", headers: []string{bearer("root")}, body: `{"__proto__":{}}`, bodied: true, status: 422},
		{name: "an integer beyond 64 bits", headers: []string{bearer("root")}, body: `{"seed":99999999999999999999999}`, bodied: true, status: 422},
		{name: "deep", headers: []string{bearer("root")}, body: strings.Repeat("[", 100_000), bodied: true, status: 400},
	}
}

// TestHostileEverywhere tries every trick on every operation of the document.
// Each must be refused with a problem document, and be in the log; the server
// stays healthy, and nothing has happened.
func TestHostileEverywhere(t *testing.T) {
	f := guarded(t, api.Config{Data: t.TempDir()})
	doc := readContract(t, f)
	tried := 0
	for path, operations := range doc.Paths {
		for method, op := range operations {
			where := strings.ToUpper(method) + " " + path
			if path == "/healthz" || path == "/readyz" {
				continue // they answer everybody
			}
			for _, trick := range tricks() {
				lines := op.RequestBody.Content["application/json"].Schema == nil // a body of JSON lines is answered line by line
				if trick.bodied && (len(op.RequestBody.Content) == 0 || lines) || trick.changes && method == "get" {
					continue
				}
				tried++
				got := f.ask(strings.ToUpper(method), regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x"), trick.body, trick.headers...)
				if got.status != trick.status {
					t.Errorf("%s, %s: %d, want %d: %.200s", where, trick.name, got.status, trick.status, got.body)
					continue
				}
				checkProblem(t, method, got)
				if record := fmt.Sprintf("status=%d", got.status); !strings.Contains(f.logged(), record) || !strings.Contains(f.logged(), "request_id="+got.header.Get("X-Request-Id")) {
					t.Errorf("%s, %s: the log does not say so", where, trick.name)
				}
			}
		}
	}
	t.Logf("%d hostile requests", tried)
	if got := f.ask("GET", "/readyz", ""); tried < 150 || got.status != http.StatusOK {
		t.Errorf("%d tried; /readyz %d", tried, got.status)
	}
	for _, list := range []string{"/v1/episodes", "/v1/policy/runs", "/v1/evals"} {
		if got := f.ask("GET", list, "", bearer("root")); !strings.Contains(got.body, ":[]") {
			t.Errorf("%s: %s", list, got.body)
		}
	}
	if strings.Contains(f.logged(), "level=ERROR") {
		t.Error("a client's mess is logged as ours")
	}
}
