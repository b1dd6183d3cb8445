package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

func TestDocumentIsWhole(t *testing.T) {
	doc := readContract(t, serve(t, api.Config{}))
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %q", doc.OpenAPI)
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			where := method + " " + path
			if op.OperationID == "" || op.Summary == "" {
				t.Errorf("%s is not described", where)
			}
			for kind, body := range op.RequestBody.Content {
				doc.hasExample(t, op.at+"/requestBody", kind, body)
			}
			for status, response := range op.Responses {
				for kind, body := range response.Content {
					doc.hasExample(t, op.responseAt(status), kind, body)
				}
			}
		}
	}
}

// hasExample reports a body without an example, or with one that its own schema
// does not allow.
func (c *contract) hasExample(t *testing.T, at, kind string, body media) {
	t.Helper()
	values := body.examples()
	if len(values) == 0 {
		t.Errorf("%s %s: no example", at, kind)
	}
	for name, value := range values {
		for _, flaw := range c.flaws(at+"/content/"+escaped(kind)+"/schema", string(value)) {
			t.Errorf("%s %s, example %s: %s", at, kind, name, flaw)
		}
	}
}

func TestDocumentNamesEveryRoute(t *testing.T) {
	doc := readContract(t, serve(t, api.Config{}))
	for _, route := range []string{
		"GET /v1/envs", "GET /v1/envs/e/tools", "GET /v1/envs/e/tasks", "POST /v1/tools/t/calls",
		"POST /v1/episodes", "GET /v1/episodes", "GET /v1/episodes/i", "DELETE /v1/episodes/i",
		"POST /v1/episodes/i/calls", "POST /v1/episodes/i/messages", "POST /v1/episodes/i/fork", "GET /healthz", "GET /readyz", "POST /v1/audit", "POST /v1/export/trl",
		"POST /v1/parse", "POST /v1/score", "POST /v1/score/stream", "POST /get_reward",
	} {
		method, path, _ := strings.Cut(route, " ")
		if _, ok := doc.find(method, path); !ok {
			t.Errorf("%s is not in the document", route)
		}
	}
}

// TestPagesLoadNothing holds the pages to work without a network.
func TestPagesLoadNothing(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	for _, path := range []string{"/", "/docs"} {
		page := f.ask("GET", path, "")
		if page.status != http.StatusOK || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v", path, page.status, page.header)
		}
		if regexp.MustCompile(`<script>|\son\w+=|\sstyle=|<style|(src|href)="(https?:)?//|@import|url\(`).MatchString(page.body) {
			t.Errorf("%s loads something from elsewhere, or has a script or a style in it:\n%s", path, page.body)
		}
		for _, link := range regexp.MustCompile(`(?:href|src)="([^"#][^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			if got := f.ask("GET", link[1], ""); got.status != http.StatusOK {
				t.Errorf("%s links %s: %d", path, link[1], got.status)
			}
		}
		for _, link := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			if !strings.Contains(page.body, `id="`+link[1]+`"`) {
				t.Errorf("%s links #%s, which is not there", path, link[1])
			}
		}
	}
}

// TestPagesEndWithTheEnvironment: the first page plays a task, and here the agent
// at random makes a call that does not end.
func TestPagesEndWithTheEnvironment(t *testing.T) {
	f := serve(t, api.Config{CallTimeout: time.Millisecond})
	for accept, want := range map[string]string{"text/html": "The environment took too long.", "application/problem+json": `"status":503`} {
		got := f.ask("GET", "/", "", "Accept: "+accept)
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", accept, got.status, got.body)
		}
	}
}
