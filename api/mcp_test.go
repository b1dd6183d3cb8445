package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolgym/api"
	"toolgym/plugin"
	"toolgym/tools"
)

// connect opens a session with the SDK's own client.
func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func overHTTP(f *fixture, task string) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: f.url + "/mcp?task_id=" + task}
}

func callMCP(t *testing.T, session *mcp.ClientSession, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// playMCP lists the tools and plays a task to its end, with mistakes.
func playMCP(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if listed.Tools[1].Name != "done" {
		t.Errorf("the second tool is %s; the order is lost", listed.Tools[1].Name)
	}
	schemas := map[string]json.RawMessage{}
	for _, tool := range listed.Tools {
		schemas[tool.Name], _ = json.Marshal(tool.InputSchema)
	}
	for _, tool := range tallyTools() {
		if diff := cmp.Diff(decoded(t, tool.Parameters), decoded(t, schemas[tool.Name])); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
	}
	steps := []struct {
		name, tool, text string
		arguments        any
		isError          bool
	}{
		{"a call", "add", `{"sum":2}`, map[string]int{"n": 2}, false},
		{"bad arguments", "add", "at most 100", map[string]int{"n": 200}, true},
		{"an unknown tool", "fly", "the tools are add, done", nil, true},
		{"no arguments", "done", `{"sum":2}`, nil, false},
		{"after the end", "done", "ended with step 4", nil, true},
	}
	for i, step := range steps {
		got := callMCP(t, session, step.tool, step.arguments)
		text := got.Content[0].(*mcp.TextContent).Text
		if got.IsError != step.isError || !strings.Contains(text, step.text) {
			t.Errorf("%s: error %v, %s", step.name, got.IsError, text)
		}
		if i == 3 && (got.Meta["toolgym/terminated"] != true || got.Meta["toolgym/reward"] != 1.0 || got.Meta["toolgym/step"] != 4.0) {
			t.Errorf("%s: meta %v", step.name, got.Meta)
		}
		structured, _ := json.Marshal(got.StructuredContent)
		if i < 4 && string(structured) != text {
			t.Errorf("%s: structured %s, text %s", step.name, structured, text)
		}
	}
}

func decoded(t *testing.T, text json.RawMessage) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

func TestMCPOverHTTP(t *testing.T) {
	f := serve(t, api.Config{})
	session := connect(t, overHTTP(f, "tally/0/2"))
	if text := session.InitializeResult().Instructions; !strings.Contains(text, "Add up to 2.") || !strings.Contains(text, `{"sum":0}`) {
		t.Errorf("instructions %q", text)
	}
	playMCP(t, session)
	// The session is an episode, which REST shows.
	if got := f.ask("GET", "/v1/episodes/"+session.ID(), ""); !strings.Contains(got.body, `"step":4,"terminated":true`) {
		t.Errorf("the episode: %d %.300s", got.status, got.body)
	}
	other := connect(t, overHTTP(f, "tally/0/2"))
	if got := callMCP(t, other, "add", map[string]int{"n": 1}); got.Meta["toolgym/step"] != 1.0 || other.ID() == session.ID() {
		t.Errorf("another session goes on in the first: %v", got.Meta)
	}
}

// What is refused reaches whoever dials by package plugin in the words of the
// problem document, not as a status alone.
func TestMCPRefusalsReachTheDialler(t *testing.T) {
	f := serve(t, api.Config{Tokens: []api.Token{token(t, "tom", api.Score)}})
	_, err := plugin.DialMCP(t.Context(), f.url+"/mcp?task_id=tally/0/1", nil)
	if e, ok := errors.AsType[*tools.Error](err); !ok || e.Code != tools.Unauthorized {
		t.Errorf("without a token: %v", err)
	}
	open := serve(t, api.Config{})
	_, err = plugin.DialMCP(t.Context(), open.url+"/mcp?task_id=tally", nil)
	if e, ok := errors.AsType[*tools.Error](err); !ok || e.Code != tools.Invalid || !strings.Contains(e.Want, "env/level/seed") {
		t.Errorf("a task id that means nothing: %v", err)
	}
}

func TestMCPOverStreams(t *testing.T) {
	f := serve(t, api.Config{})
	clientReads, serverWrites := io.Pipe()
	serverReads, clientWrites := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- f.server.ServeMCP(t.Context(), "tally/0/2", serverReads, serverWrites) }()
	session := connect(t, &mcp.IOTransport{Reader: clientReads, Writer: clientWrites})
	playMCP(t, session)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := f.server.ServeMCP(t.Context(), "tally/x", serverReads, serverWrites); err == nil {
		t.Error("a task that is none is played")
	}
}

func TestMCPSessionsEndWithTheServer(t *testing.T) {
	f := serve(t, api.Config{})
	session := connect(t, overHTTP(f, "tally/0/2")) // its client holds a stream open
	if err := f.server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := session.ListTools(t.Context(), nil); err == nil {
		t.Error("the session goes on")
	}
}

func TestMCPBelongsToItsToken(t *testing.T) {
	f := guarded(t, api.Config{})
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const both = "Accept: application/json, text/event-stream"
	begun := f.ask("POST", "/mcp", initialize, both, bearer("alice"))
	id := begun.header.Get("Mcp-Session-Id")
	if begun.status != http.StatusOK || id == "" {
		t.Fatalf("%d %s", begun.status, begun.body)
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for who, want := range map[string]int{bearer("alice"): 200, bearer("bob"): 404, bearer("carol"): 403, "X-Nobody: 1": 401} {
		if got := f.ask("POST", "/mcp", list, both, "Mcp-Session-Id: "+id, who); got.status != want {
			t.Errorf("%s: %d, want %d: %s", who, got.status, want, got.body)
		}
	}
}

// TestMCPRefusals are refused before any episode begins.
func TestMCPRefusals(t *testing.T) {
	f := serve(t, api.Config{MaxEpisodes: 1})
	const both = "Accept: application/json, text/event-stream"
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"unknown environment", "POST", "/mcp?task_id=chess/0/1", initialize, []string{both}, 404, "unknown environment"},
		{"malformed task", "POST", "/mcp?task_id=tally", initialize, []string{both}, 422, "malformed"},
		{"unknown parameter", "POST", "/mcp?task=tally/0/1", initialize, []string{both}, 422, "task_id"},
		{"unknown session", "POST", "/mcp", initialize, []string{both, "Mcp-Session-Id: x"}, 404, "no such session"},
		{"page of another origin", "POST", "/mcp", initialize, []string{both, "Origin: http://evil.example"}, 403, "origin"},
		{"rebound name", "POST", "/mcp", initialize, []string{both, "Host: evil.example"}, 421, "Host"},
		{"form", "POST", "/mcp", "a=b", []string{both, "Content-Type: application/x-www-form-urlencoded"}, 415, ""},
		{"stream without a session", "GET", "/mcp", "", []string{both}, 400, ""},
		{"another method", "PUT", "/mcp", "{}", []string{both}, 405, ""},
		{"a body over the limit", "POST", "/mcp", `"` + strings.Repeat("x", 2<<20) + `"`, []string{both}, 413, ""},
		{"calls before the beginning", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}`, []string{both}, 400, "Mcp-Session-Id"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask(test.method, test.path, test.body, test.headers...)
			if got.status != test.status || !strings.Contains(got.body, test.want) {
				t.Errorf("%d %s, want %d %s", got.status, got.body, test.status, test.want)
			}
		})
	}
	if got := f.ask("GET", "/v1/episodes", ""); !strings.Contains(got.body, `"episodes":[]`) {
		t.Errorf("an episode has begun: %s", got.body)
	}
	f.begin("tally/0/1")
	if got := f.ask("POST", "/mcp", initialize, both); !strings.Contains(got.body, "the limit is reached") {
		t.Errorf("with the table full: %s", got.body)
	}
}

// TestMCPSessionsExpire with their episodes.
func TestMCPSessionsExpire(t *testing.T) {
	f := serve(t, api.Config{IdleExpiry: time.Hour})
	session := connect(t, overHTTP(f, "tally/0/2"))
	f.wait(time.Hour)
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "done"}); err == nil {
		t.Error("the session goes on")
	}
}
