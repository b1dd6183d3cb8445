package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// A contract is the OpenAPI document as a client reads it.
type contract struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components json.RawMessage                 `json:"components"`
}

type operation struct {
	OperationID string `json:"operationId"`
	Summary     string `json:"summary"`
	RequestBody struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Description string           `json:"description"`
		Content     map[string]media `json:"content"`
	} `json:"responses"`
}

type media struct {
	Schema  json.RawMessage `json:"schema"`
	Example json.RawMessage `json:"example"`
}

func readContract(t *testing.T, f *fixture) contract {
	t.Helper()
	var doc contract
	if err := json.Unmarshal([]byte(f.ask("GET", "/openapi.json", "", "X-Request-Id: t").body), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// find returns the operation that a request belongs to.
func (c contract) find(method, path string) (operation, bool) {
	u, _ := url.Parse(path)
	for template, operations := range c.Paths {
		pattern := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(template, "[^/]+")
		if op, ok := operations[strings.ToLower(method)]; ok && regexp.MustCompile("^"+pattern+"$").MatchString(u.Path) {
			return op, true
		}
	}
	return operation{}, false
}

// check reports an answer that the document does not describe.
func (c contract) check(t *testing.T, method, path string, got answer) {
	t.Helper()
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, ok := c.find(method, path)
	if !ok {
		return // answered by the edge: no such path, or no such method
	}
	response, ok := op.Responses[strconv.Itoa(got.status)]
	if !ok {
		t.Errorf("%s %s: %d is not documented", method, path, got.status)
		return
	}
	if got.body == "" {
		return
	}
	kind := got.header.Get("Content-Type")
	c.valid(t, fmt.Sprintf("%s %s: %d", method, path, got.status), response.Content[kind].Schema, json.RawMessage(got.body))
}

// valid reports a value that its schema does not allow.
func (c contract) valid(t *testing.T, where string, schema, value json.RawMessage) {
	t.Helper()
	whole := fmt.Sprintf(`{"allOf":[%s],"components":%s}`, schema, c.Components)
	declared, err := tools.Declare("schema", "", json.RawMessage(whole))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	for _, v := range declared.Validate(value) {
		t.Errorf("%s: %s %s", where, v.Pointer, v.Message)
	}
}

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
				doc.hasExample(t, where+" takes "+kind, body)
			}
			for status, response := range op.Responses {
				for kind, body := range response.Content {
					doc.hasExample(t, where+" "+status+" "+kind, body)
				}
			}
		}
	}
}

// hasExample reports a body without an example, or with one that its own schema
// does not allow.
func (c contract) hasExample(t *testing.T, where string, body media) {
	t.Helper()
	if len(body.Example) == 0 {
		t.Errorf("%s: no example", where)
		return
	}
	c.valid(t, where, body.Schema, body.Example)
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
