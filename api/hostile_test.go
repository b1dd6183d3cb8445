package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/api/client"
)

// A hostile request, and the status of its refusal. EPISODE and CALLS in the
// path stand for those of an episode.
type hostile struct {
	name, method, path, body string
	headers                  []string
	status                   int
}

// hostileBodies are bodies that no honest client would send.
func hostileBodies() []hostile {
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	return []hostile{
		{"no body", "POST", "CALLS", "", nil, 400},
		{"not JSON", "POST", "CALLS", "name=add", nil, 400},
		{"half of it", "POST", "CALLS", `{"name":"add"`, nil, 400},
		{"two values", "POST", "CALLS", `{"name":"add"} {}`, nil, 400},
		{"invalid UTF-8", "POST", "CALLS", "{\"name\":\"\xff\xfe\"}", nil, 400},
		{"lone surrogate", "POST", "CALLS", `{"name":"\ud800"}`, nil, 400},
		{"duplicate key", "POST", "CALLS", `{"name":"add","name":"done"}`, nil, 400},
		{"duplicate key in the arguments", "POST", "CALLS", `{"name":"add","arguments":{"n":1,"n":2}}`, nil, 400},
		{"NaN", "POST", "CALLS", `{"name":"add","arguments":{"n":NaN}}`, nil, 400},
		{"nested 10,000 deep", "POST", "CALLS", `{"name":"add","arguments":` + deep + `}`, nil, 400},
		{"brackets without end", "POST", "CALLS", strings.Repeat("[", 1<<19), nil, 400},
		{"null", "POST", "CALLS", `null`, nil, 422},
		{"a list", "POST", "CALLS", `["add"]`, nil, 422},
		{"a string", "POST", "CALLS", `"add"`, nil, 422},
		{"unknown field", "POST", "CALLS", `{"name":"add","args":{}}`, nil, 422},
		{"field in another case", "POST", "CALLS", `{"Name":"add"}`, nil, 422},
		{"prototype", "POST", "CALLS", `{"name":"add","__proto__":{}}`, nil, 422},
		{"empty field name", "POST", "CALLS", `{"name":"add","":1}`, nil, 422},
		{"name is a number", "POST", "CALLS", `{"name":1}`, nil, 422},
		{"name is null", "POST", "CALLS", `{"name":null}`, nil, 422},
		{"name is empty", "POST", "CALLS", `{"name":""}`, nil, 422},
		{"name is missing", "POST", "CALLS", `{"arguments":{}}`, nil, 422},
		{"request id is empty", "POST", "CALLS", `{"name":"add","request_id":""}`, nil, 422},
		{"request id is a number", "POST", "CALLS", `{"name":"add","request_id":1}`, nil, 422},
		{"request id is long", "POST", "CALLS", `{"name":"add","request_id":"` + strings.Repeat("x", 129) + `"}`, nil, 422},
		{"10 MB", "POST", "CALLS", `{"name":"add","arguments":{"n":"` + strings.Repeat("x", 10<<20) + `"}}`, nil, 413},
		{"a byte over 1 MiB", "POST", "CALLS", `{"name":"add"}` + strings.Repeat(" ", 1<<20-13), nil, 413},
	}
}

// hostileEdges are hostile around the body.
func hostileEdges() []hostile {
	return []hostile{
		{"form", "POST", "CALLS", `name=add`, []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"plain text, as a page may send it", "POST", "CALLS", `{"name":"done"}`, []string{"Content-Type: text/plain"}, 415},
		{"packed", "POST", "CALLS", "\x1f\x8b\x08\x00", []string{"Content-Encoding: gzip"}, 415},
		{"nonsense content type", "POST", "CALLS", `{"name":"done"}`, []string{"Content-Type: ;;;"}, 415},
		{"page of another origin", "POST", "CALLS", `{"name":"done"}`, []string{"Origin: http://evil.example"}, 403},
		{"page of another port", "POST", "CALLS", `{"name":"done"}`, []string{"Origin: http://127.0.0.1:1"}, 403},
		{"page of no origin", "POST", "CALLS", `{"name":"done"}`, []string{"Origin: null"}, 403},
		{"fetch from another site", "POST", "CALLS", `{"name":"done"}`, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"deletion by a page", "DELETE", "EPISODE", "", []string{"Origin: http://evil.example"}, 403},
		{"rebound name", "GET", "EPISODE", "", []string{"Host: evil.example"}, 421},
		{"rebound name that begins right", "GET", "EPISODE", "", []string{"Host: 127.0.0.1.evil.example:8080"}, 421},
		{"rebound name with a port", "POST", "CALLS", `{"name":"done"}`, []string{"Host: localhost.evil.example:80"}, 421},
		{"another machine's address", "GET", "EPISODE", "", []string{"Host: 192.168.0.1"}, 421},
		{"unspecified address", "GET", "EPISODE", "", []string{"Host: 0.0.0.0"}, 421},
		{"query on a call", "POST", "CALLS?name=done", `{"name":"done"}`, nil, 422},
		{"query twice", "GET", "/v1/envs/tally/tasks?n=1&n=1", "", nil, 422},
		{"query with a semicolon", "GET", "/v1/envs/tally/tasks?n=1;seed=2", "", nil, 400},
		{"n of zero", "GET", "/v1/envs/tally/tasks?n=0", "", nil, 422},
		{"n without end", "GET", "/v1/envs/tally/tasks?n=1001", "", nil, 422},
		{"n beyond 64 bits", "GET", "/v1/envs/tally/tasks?n=99999999999999999999", "", nil, 422},
		{"seed with a sign", "GET", "/v1/envs/tally/tasks?seed=%2B1", "", nil, 422},
		{"seed in hexadecimal", "GET", "/v1/envs/tally/tasks?seed=0x10", "", nil, 422},
		{"seed with a fraction", "GET", "/v1/envs/tally/tasks?seed=1.0", "", nil, 422},
		{"path out of the tree", "GET", "/v1/envs/..%2f..%2fetc%2fpasswd/tools", "", nil, 404},
		{"path with dots", "GET", "/v1/../healthz", "", nil, 404},
		{"path with a zero byte", "GET", "/v1/episodes/%00", "", nil, 404},
		{"path with line breaks", "GET", "/v1/episodes/a%0d%0aX-Evil:%201", "", nil, 404},
		{"path doubled slashes", "GET", "//v1//envs", "", nil, 404},
		{"path in another case", "GET", "/V1/envs", "", nil, 404},
		{"long id", "GET", "/v1/episodes/" + strings.Repeat("x", 10_000), "", nil, 404},
		{"id of a tool as a path", "POST", "/v1/tools/..%2fcalls/calls", `{}`, nil, 404},
		{"wrong method", "PATCH", "EPISODE", `{}`, nil, 405},
		{"GET on calls", "GET", "CALLS", "", nil, 405},
		{"HEAD on calls", "HEAD", "CALLS", "", nil, 405},
		{"TRACE", "TRACE", "EPISODE", "", nil, 405},
		{"method override", "POST", "EPISODE", `{}`, []string{"X-HTTP-Method-Override: DELETE"}, 405},
	}
}

// TestHostileRequests sends them all. Each must be refused with a problem
// document that gives nothing away, and leave the episode as it was.
func TestHostileRequests(t *testing.T) {
	f := serve(t, api.Config{})
	doc := readContract(t, f)
	episode := f.begin("tally/0/5")
	for _, test := range append(hostileBodies(), hostileEdges()...) {
		t.Run(test.name, func(t *testing.T) {
			path := strings.NewReplacer("CALLS", episode+"/calls", "EPISODE", episode).Replace(test.path)
			got := f.ask(test.method, path, test.body, test.headers...)
			if got.status != test.status {
				t.Fatalf("%d, want %d: %.300s", got.status, test.status, got.body)
			}
			checkProblem(t, test.method, got)
			doc.check(t, test.method, path, got)
		})
	}
	if state := f.ask("GET", episode, ""); !strings.Contains(state.body, `"step":0,`) {
		t.Errorf("the episode was moved: %s", state.body)
	}
}

// checkProblem reports a refusal that is no proper problem document.
func checkProblem(t *testing.T, method string, got answer) {
	t.Helper()
	if got.header.Get("Content-Type") != "application/problem+json" || got.header.Get("X-Request-Id") == "" {
		t.Errorf("headers %v", got.header)
	}
	if method == http.MethodHead {
		return
	}
	var p client.Problem
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		t.Fatalf("%v in %.300s", err, got.body)
	}
	if p.Status != got.status || p.Title == "" || p.Detail == "" || p.Code == "" || p.RequestID != got.header.Get("X-Request-Id") {
		t.Errorf("incomplete: %.300s", got.body)
	}
	if len(got.body) > 2000 {
		t.Errorf("%d bytes are quoted back: %.300s", len(got.body), got.body)
	}
}

// TestNearlyHostileRequests are unusual and right.
func TestNearlyHostileRequests(t *testing.T) {
	tests := []struct {
		name, body string
		headers    []string
	}{
		{"content type with a charset", `{"name":"done"}`, []string{"Content-Type: application/json; charset=utf-8"}},
		{"no content type", `{"name":"done"}`, []string{"Content-Type: "}},
		{"blanks around", " \r\n\t{\"name\":\"done\"}\n", nil},
		{"exactly 1 MiB", `{"name":"done"}` + strings.Repeat(" ", 1<<20-15), nil},
		{"escaped name", `{"\u006eame":"d\u006fne"}`, nil},
		{"accepts only HTML", `{"name":"done"}`, []string{"Accept: text/html"}},
		{"localhost", `{"name":"done"}`, []string{"Host: LocalHost:99"}},
		{"IPv6 loopback", `{"name":"done"}`, []string{"Host: [::1]:8080"}},
		{"allowed host", `{"name":"done"}`, []string{"Host: gym.example:8080"}},
		{"same origin", `{"name":"done"}`, []string{"Host: localhost:8080", "Origin: http://localhost:8080"}},
		{"long request id", `{"name":"done","request_id":"` + strings.Repeat("é", 128) + `"}`, nil},
	}
	f := serve(t, api.Config{AllowHosts: []string{"gym.example"}})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("POST", f.begin("tally/0/0")+"/calls", test.body, test.headers...)
			if got.status != http.StatusOK || !strings.Contains(got.body, `"terminated":true`) {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}
