package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// errorLog keeps what a server logs as an error: faults of ours, and panics.
type errorLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *errorLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// take returns what was logged, and forgets it.
func (l *errorLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

func (l *errorLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelError}))
}

// mcpFuzzServer is a server of a real environment.
func mcpFuzzServer(f *testing.F, faults *errorLog) *api.Server {
	f.Helper()
	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec()}, Rate: 1e9, CallTimeout: 10 * time.Second, Logger: faults.logger()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			f.Error(err)
		}
	})
	return server
}

// mcpSeeds are parameters of all methods that have crashed a server once, and of
// the kinds that might.
func mcpSeeds() (seeds [][2]string) {
	methods := []string{"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
		"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "server/discover",
		"subscriptions/listen", "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", ""}
	for _, method := range methods {
		for _, params := range []string{"", `null`, `{}`, `[]`, `{"_meta":{"progressToken":{}}}`, `{"cursor":"x","name":"","uri":"","level":"","requestId":1e300}`,
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":null}}`} {
			seeds = append(seeds, [2]string{method, params})
		}
	}
	for _, request := range mcpRequests() {
		seeds = append(seeds, [2]string{request.method, request.params})
	}
	return seeds
}

// postMCP sends a message without a connection, and fails where it takes too long
// or the server is at fault.
func postMCP(t *testing.T, server http.Handler, faults *errorLog, method, session, text string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost/mcp", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	if ctx.Err() != nil {
		t.Fatalf("%s was not answered", text)
	}
	if logged := faults.take(); logged != "" || w.Code >= 500 {
		t.Fatalf("%s was answered %d, and logged: %s", text, w.Code, logged)
	}
	return answer{w.Code, w.Header(), w.Body.String()}
}

// FuzzMCP sends any method with any parameters to a session, as a call and as a
// notification. The server answers with JSON-RPC or a refusal, logs no fault, and
// an honest session continues.
func FuzzMCP(f *testing.F) {
	for _, seed := range mcpSeeds() {
		f.Add(seed[0], []byte(seed[1]), true)
		f.Add(seed[0], []byte(seed[1]), false)
	}
	faults := &errorLog{}
	server := mcpFuzzServer(f, faults)
	f.Fuzz(func(t *testing.T, method string, params []byte, call bool) {
		hostile := postMCP(t, server, faults, "POST", "", mcpInitialize).header.Get("Mcp-Session-Id")
		honest := postMCP(t, server, faults, "POST", "", mcpInitialize).header.Get("Mcp-Session-Id")
		quoted, _ := json.Marshal(method) // a string always encodes
		text := fmt.Sprintf(`{"jsonrpc":"2.0","method":%s`, quoted)
		if call {
			text += `,"id":1`
		}
		if len(params) > 0 {
			text += `,"params":` + string(params)
		}
		text += "}"
		for _, session := range []string{hostile, ""} {
			got := postMCP(t, server, faults, "POST", session, text)
			if got.status == http.StatusOK {
				readMCP(t, got.body)
			}
			if opened := got.header.Get("Mcp-Session-Id"); session == "" && opened != "" {
				postMCP(t, server, faults, "DELETE", opened, "")
			}
		}
		for _, line := range []string{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`} {
			if got := postMCP(t, server, faults, "POST", honest, line); got.status != http.StatusOK || readMCP(t, got.body).Error != nil {
				t.Errorf("after %s, an honest session is answered %d %s", text, got.status, got.body)
			}
		}
		for _, session := range []string{hostile, honest} {
			postMCP(t, server, faults, "DELETE", session, "")
			if got := direct(server, "DELETE", "/v1/episodes/"+session, ""); got.status != http.StatusNoContent {
				t.Errorf("deleting the episode: %d %s", got.status, got.body)
			}
		}
	})
}

// FuzzMCPLines sends any lines to a session over streams. Every line of the answer
// is JSON-RPC, no fault is logged, and the session answers what is sent afterwards.
func FuzzMCPLines(f *testing.F) {
	for _, message := range malformedMCP() {
		f.Add([]byte(message.text))
	}
	for _, seed := range mcpSeeds() {
		f.Add(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, seed[0], seed[1]))
		f.Add(fmt.Appendf(nil, `[{"jsonrpc":"2.0","method":%q,"params":%s},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, seed[0], seed[1]))
	}
	f.Add([]byte(strings.ReplaceAll(mcpInitialize, "2025-06-18", "2024-11-05") + "\n[" + mcpAdd + `,{"jsonrpc":"2.0","method":"x"}]`))
	faults := &errorLog{}
	server := mcpFuzzServer(f, faults)
	f.Fuzz(func(t *testing.T, lines []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		last := `{"jsonrpc":"2.0","id":"the last line of an honest client","method":"ping"}`
		in := io.MultiReader(bytes.NewReader(lines), strings.NewReader("\n"+mcpInitialize+"\n"+last+"\n"))
		var out bytes.Buffer
		if err := server.ServeMCP(ctx, "arithmetic/0/1", io.NopCloser(in), unclosed{&out}); err != nil {
			t.Errorf("the session ended: %v", err)
		}
		if ctx.Err() != nil {
			t.Fatal("the session did not end")
		}
		answered := false
		for line := range strings.Lines(out.String()) {
			var list []json.RawMessage
			if json.Unmarshal([]byte(line), &list) != nil {
				list = []json.RawMessage{json.RawMessage(line)}
			}
			for _, text := range list {
				if a := readMCP(t, string(text)); strings.Contains(string(a.ID), "honest") {
					answered = a.Error == nil
				}
			}
		}
		if logged := faults.take(); logged != "" || !answered {
			t.Errorf("answered %v, %s; logged: %s", answered, out.String(), logged)
		}
	})
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
