package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/internal/testkit"
	"toolgym/tools"
)

// An mcpAnswer is a JSON-RPC response.
type mcpAnswer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// code is the code of the error, 0 where there is none.
func (a mcpAnswer) code() int {
	if a.Error == nil {
		return 0
	}
	return a.Error.Code
}

func readMCP(t testing.TB, text string) mcpAnswer {
	t.Helper()
	var a mcpAnswer
	if event, ok := strings.CutPrefix(text, "event: message\ndata: "); ok {
		text = event
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || a.JSONRPC != "2.0" {
		t.Fatalf("no JSON-RPC response: %q", text)
	}
	return a
}

const (
	mcpAccept     = "Accept: application/json, text/event-stream"
	mcpInitialize = `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	mcpAdd        = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"n":1}}}`
)

// An mcpClient sends a line and returns the answer to it.
type mcpClient func(t *testing.T, line string) mcpAnswer

// mcpOverHTTP opens a session of a task.
func mcpOverHTTP(t *testing.T, f *fixture, task string, headers ...string) mcpClient {
	t.Helper()
	begun := f.ask("POST", "/mcp?task_id="+task, mcpInitialize, mcpAccept)
	if a := readMCP(t, begun.body); a.Error != nil {
		t.Fatalf("initializing: %s", begun.body)
	}
	headers = append(headers, mcpAccept, "Mcp-Session-Id: "+begun.header.Get("Mcp-Session-Id"))
	return func(t *testing.T, line string) mcpAnswer {
		t.Helper()
		return readMCP(t, f.ask("POST", "/mcp", line, headers...).body)
	}
}

// A lineSession is a session over streams.
type lineSession struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// openLines starts a session over streams, which must end without an error when
// the test does.
func openLines(t *testing.T, server *api.Server, task string) *lineSession {
	t.Helper()
	clientReads, serverWrites := io.Pipe()
	serverReads, clientWrites := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.ServeMCP(t.Context(), task, serverReads, serverWrites) }()
	t.Cleanup(func() {
		_ = clientWrites.Close()
		_, _ = io.Copy(io.Discard, clientReads)
		if err := <-served; err != nil {
			t.Errorf("the session ended: %v", err)
		}
	})
	return &lineSession{clientWrites, bufio.NewReader(clientReads)}
}

func (s *lineSession) send(t *testing.T, line string) mcpAnswer {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	text, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return readMCP(t, text)
}

// mcpOverLines opens a session of a task over streams.
func mcpOverLines(t *testing.T, f *fixture, task string) mcpClient {
	t.Helper()
	s := openLines(t, f.server, task)
	if a := s.send(t, mcpInitialize); a.Error != nil {
		t.Fatalf("initializing: %s", a.Error.Message)
	}
	return s.send
}

// bothWays runs a test over HTTP and over streams.
func bothWays(t *testing.T, do func(t *testing.T, f *fixture, open func(task string) mcpClient)) {
	t.Helper()
	t.Run("HTTP", func(t *testing.T) {
		f := serve(t, api.Config{})
		do(t, f, func(task string) mcpClient { return mcpOverHTTP(t, f, task, "X-Request-Id: lost-42") })
	})
	t.Run("streams", func(t *testing.T) {
		f := serve(t, api.Config{})
		do(t, f, func(task string) mcpClient { return mcpOverLines(t, f, task) })
	})
}

// mcpRequests are requests of an open session with parameters that no honest
// client sends, and the code of their error; 0 means a result. Some of them ended
// the process once.
func mcpRequests() map[string]struct {
	method, params string
	code           int
} {
	type request = struct {
		method, params string
		code           int
	}
	const invalid, unknown = -32602, -32601
	return map[string]request{
		"a call without anything":         {"tools/call", `{}`, invalid},
		"a call with an empty name":       {"tools/call", `{"name":""}`, invalid},
		"a call with arguments alone":     {"tools/call", `{"arguments":{}}`, invalid},
		"a call with a null name":         {"tools/call", `{"name":null}`, invalid},
		"a call with a number as name":    {"tools/call", `{"name":5}`, invalid},
		"a call with a name in capitals":  {"tools/call", `{"NAME":"add"}`, invalid},
		"a call with null":                {"tools/call", `null`, -32600},
		"a call with a list":              {"tools/call", `[]`, invalid},
		"a call with null arguments":      {"tools/call", `{"name":"add","arguments":null}`, 0},
		"a call with a list as arguments": {"tools/call", `{"name":"add","arguments":[1]}`, 0},
		"a call with a text as arguments": {"tools/call", `{"name":"add","arguments":"{}"}`, 0},
		"an unknown tool":                 {"tools/call", `{"name":"fly"}`, 0},
		"a call with _meta of a number":   {"tools/call", `{"name":"add","arguments":{"n":1},"_meta":5}`, invalid},
		"a call with a progress token":    {"tools/call", `{"name":"add","arguments":{"n":1},"_meta":{"progressToken":[{}]}}`, 0},
		"a list with null":                {"tools/list", `null`, 0},
		"a list with a cursor":            {"tools/list", `{"cursor":"x"}`, invalid},
		"a list with a number as cursor":  {"tools/list", `{"cursor":5}`, invalid},
		"a ping with null":                {"ping", `null`, 0},
		"a ping with a list":              {"ping", `[1]`, invalid},
		"a second initialize":             {"initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, -32600},
		"a second initialize with null":   {"initialize", `null`, invalid},
		"a second initialize, empty":      {"initialize", `{}`, -32600},
		"a resource without a name":       {"resources/read", `{}`, invalid},
		"a subscription":                  {"resources/subscribe", `{}`, unknown},
		"a prompt without a name":         {"prompts/get", `{}`, invalid},
		"a level of no kind":              {"logging/setLevel", `{"level":{}}`, invalid},
		"a completion of nothing":         {"completion/complete", `{}`, invalid},
		"a completion with null":          {"completion/complete", `{"ref":null,"argument":null}`, invalid},
		"a subscription that never ends":  {"subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, unknown},
		"an unknown method":               {"tools/fly", `{}`, unknown},
	}
}

// TestMCPRequestsWithOddParameters are answered, spend no step but where the agent
// is at fault, and leave the session as it was.
func TestMCPRequestsWithOddParameters(t *testing.T) {
	bothWays(t, func(t *testing.T, f *fixture, open func(string) mcpClient) {
		send := open("tally/endless/2")
		for name, request := range mcpRequests() {
			if strings.HasSuffix(t.Name(), "/HTTP") && strings.HasPrefix(name, "an unknown method") {
				continue // the SDK answers it with a status alone
			}
			t.Run(name, func(t *testing.T) {
				line := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, request.method, request.params)
				if got := send(t, line); got.code() != request.code || string(got.ID) != `"x"` && request.code != -32600 {
					t.Errorf("answered code %d, %+v, want code %d", got.code(), got.Error, request.code)
				}
			})
		}
		before := send(t, mcpAdd)
		for _, params := range []string{`{}`, `{"name":""}`, `{"arguments":{}}`} {
			send(t, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":`+params+`}`)
		}
		after := send(t, mcpAdd)
		if stepOf(t, after) != stepOf(t, before)+1 {
			t.Errorf("calls without a name spend steps: %s, then %s", before.Result, after.Result)
		}
		if strings.Contains(f.logged(), "level=ERROR") {
			t.Errorf("a fault is logged: %s", f.logged())
		}
	})
}

// stepOf is the number of the step that a call was.
func stepOf(t *testing.T, a mcpAnswer) int {
	t.Helper()
	var result struct {
		Meta struct {
			Step int `json:"toolgym/step"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(a.Result, &result); err != nil || result.Meta.Step == 0 {
		t.Fatalf("no step: %s, %+v", a.Result, a.Error)
	}
	return result.Meta.Step
}

// TestMCPPanicsFailTheirRequest lets an environment panic: the client hears of an
// internal error and an id, the log has the panic under that id and the session's,
// and this session and another continue.
func TestMCPPanicsFailTheirRequest(t *testing.T) {
	bothWays(t, func(t *testing.T, f *fixture, open func(string) mcpClient) {
		send, other := open("tally/0/2"), open("tally/0/2")
		send(t, mcpAdd)
		got := send(t, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"break","arguments":{"how":"panic"}}}`)
		if got.code() != -32603 || strings.Contains(got.Error.Message, "secret") || string(got.ID) != "8" {
			t.Errorf("answered %+v", got)
		}
		_, id, _ := strings.Cut(got.Error.Message, "under the request id ")
		if strings.HasPrefix(t.Name(), "TestMCPPanicsFailTheirRequest/HTTP") && id != "lost-42" {
			t.Errorf("the request id is %q", id)
		}
		for _, part := range []string{"level=ERROR", "the secret of the environment", "session=id-", "request_id=" + id, "tally_test.go"} {
			if id == "" || !strings.Contains(f.logged(), part) {
				t.Errorf("the log does not have %q: %s", part, f.logged())
			}
		}
		if next := send(t, mcpAdd); stepOf(t, next) != 2 || !strings.Contains(string(next.Result), `"sum":2`) {
			t.Errorf("the session continues with %s", next.Result)
		}
		if next := other(t, mcpAdd); stepOf(t, next) != 1 {
			t.Errorf("another session: %s", next.Result)
		}
	})
}

// TestMCPPanicsOfInitializeAndList are of the other calls that reach a spec.
func TestMCPPanicsOfInitializeAndList(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{testkit.WithPanic(tallySpec(nil), 13, false)}})
	if got := readMCP(t, f.ask("POST", "/mcp?task_id=tally/0/13", mcpInitialize, mcpAccept).body); got.code() != -32603 {
		t.Errorf("initializing: %+v", got)
	}
	if !strings.Contains(f.logged(), testkit.PanicValue) || !strings.Contains(f.logged(), "method=initialize") {
		t.Errorf("the log does not say why: %s", f.logged())
	}
	send := mcpOverHTTP(t, f, "tally/0/2")
	if got := send(t, mcpAdd); got.Error != nil {
		t.Errorf("another session: %+v", got)
	}
	listing, listed := false, tallySpec(nil)
	set := listed.Tools
	listed.Tools = func(rules, level string) tools.Set {
		if listing {
			panic(testkit.PanicValue)
		}
		return set(rules, level)
	}
	f = serve(t, api.Config{Specs: tools.Specs{listed}})
	line := openLines(t, f.server, "tally/0/2")
	line.send(t, mcpInitialize)
	listing = true
	if got := line.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); got.code() != -32603 {
		t.Errorf("listing: %+v", got)
	}
	listing = false
	if got := line.send(t, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); got.Error != nil {
		t.Errorf("listing again: %+v", got)
	}
}

// malformedMCP are messages that are none, and the code of their error.
func malformedMCP() map[string]struct {
	text string
	code int
} {
	type message = struct {
		text string
		code int
	}
	const parse, invalid = -32700, -32600
	return map[string]message{
		"no JSON":                   {`hello`, parse},
		"half a message":            {`{"jsonrpc":"2.0","id":1`, parse},
		"two messages":              {`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, parse},
		"invalid UTF-8":             {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", parse},
		"nothing but brackets":      {strings.Repeat("[", 2000), parse},
		"null":                      {`null`, invalid},
		"a number":                  {`5`, invalid},
		"an empty object":           {`{}`, invalid},
		"an empty batch":            {`[]`, invalid},
		"a batch of numbers":        {`[1,2]`, invalid},
		"another version":           {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, invalid},
		"no version":                {`{"id":1,"method":"ping"}`, invalid},
		"an empty method":           {`{"jsonrpc":"2.0","id":1,"method":""}`, invalid},
		"a number as method":        {`{"jsonrpc":"2.0","id":1,"method":5}`, invalid},
		"null as id":                {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalid},
		"an object as id":           {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalid},
		"a list as id":              {`{"jsonrpc":"2.0","id":[],"method":"ping"}`, invalid},
		"true as id":                {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, invalid},
		"a fraction as id":          {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalid},
		"a huge id":                 {`{"jsonrpc":"2.0","id":9007199254740993000,"method":"ping"}`, invalid},
		"an id beyond float64":      {`{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, invalid},
		"a long id":                 {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1000) + `","method":"ping"}`, invalid},
		"parameters nested deeply":  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}}`, invalid},
		"a batch with one id twice": {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, invalid},
		"initialize with null":      {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`, -32602},
		"initialize with nothing":   {`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, -32602},
		"a batch that initializes":  {`[` + mcpInitialize + `]`, invalid},
	}
}

// TestMCPMalformedMessages are answered with a JSON-RPC error, over HTTP with 400,
// and the session continues.
func TestMCPMalformedMessages(t *testing.T) {
	f := serve(t, api.Config{})
	begun := f.ask("POST", "/mcp?task_id=tally/endless/2", mcpInitialize, mcpAccept)
	session := "Mcp-Session-Id: " + begun.header.Get("Mcp-Session-Id")
	lines := openLines(t, f.server, "tally/endless/2")
	lines.send(t, mcpInitialize)
	for name, message := range malformedMCP() {
		t.Run(name, func(t *testing.T) {
			got := f.ask("POST", "/mcp", message.text, mcpAccept, session)
			if a := readMCP(t, got.body); got.status != http.StatusBadRequest || a.code() != message.code {
				t.Errorf("over HTTP %d %s, want code %d", got.status, got.body, message.code)
			}
			if a := lines.send(t, message.text); a.code() != message.code {
				t.Errorf("over streams %+v, want code %d", a, message.code)
			}
			if got := f.ask("POST", "/mcp", mcpAdd, mcpAccept, session); got.status != http.StatusOK || readMCP(t, got.body).Error != nil {
				t.Errorf("the session over HTTP: %d %s", got.status, got.body)
			}
			if a := lines.send(t, mcpAdd); a.Error != nil {
				t.Errorf("the session over streams: %+v", a)
			}
		})
	}
	if a := lines.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"`+strings.Repeat("x", 2<<20)+`"}}}`); a.code() != -32600 {
		t.Errorf("a line of 2 MiB: %+v", a)
	}
	if a := lines.send(t, mcpAdd); a.Error != nil {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestMCPNotifications of every odd kind have no answer, and the session
// continues.
func TestMCPNotifications(t *testing.T) {
	f := serve(t, api.Config{})
	begun := f.ask("POST", "/mcp?task_id=tally/endless/2", mcpInitialize, mcpAccept)
	session := "Mcp-Session-Id: " + begun.header.Get("Mcp-Session-Id")
	lines := openLines(t, f.server, "tally/endless/2")
	lines.send(t, mcpInitialize)
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e300}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"first"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":5}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}`,
		`{"jsonrpc":"2.0","method":"notifications/fly"}`,
		`{"jsonrpc":"2.0","id":99,"result":{}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`,
	} {
		t.Run(message, func(t *testing.T) {
			if got := f.ask("POST", "/mcp", message, mcpAccept, session); got.status != http.StatusAccepted && got.status != http.StatusBadRequest {
				t.Errorf("over HTTP %d %s", got.status, got.body)
			}
			if got := f.ask("POST", "/mcp", mcpAdd, mcpAccept, session); got.status != http.StatusOK {
				t.Errorf("the session over HTTP: %d %s", got.status, got.body)
			}
			if a := lines.send(t, message+"\n"+mcpAdd); a.Error != nil || string(a.ID) != "7" {
				t.Errorf("the session over streams: %+v", a)
			}
		})
	}
}

// TestMCPBatches are for protocol versions that have them.
func TestMCPBatches(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`
	f := serve(t, api.Config{})
	old := openLines(t, f.server, "tally/0/2")
	old.send(t, strings.ReplaceAll(mcpInitialize, "2025-06-18", "2025-03-26"))
	if _, err := io.WriteString(old.in, batch+"\n"); err != nil {
		t.Fatal(err)
	}
	text, err := old.out.ReadString('\n')
	var answers []mcpAnswer
	if err != nil || json.Unmarshal([]byte(text), &answers) != nil || len(answers) != 2 {
		t.Fatalf("%q, %v", text, err)
	}
	for _, a := range answers {
		if a.Error != nil {
			t.Errorf("%+v", a)
		}
	}
	later := openLines(t, f.server, "tally/0/2")
	later.send(t, mcpInitialize)
	if a := later.send(t, batch); a.code() != -32600 {
		t.Errorf("%+v", a)
	}
}

// TestMCPSessionIDs: a session that there is not is 404, none 400.
func TestMCPSessionIDs(t *testing.T) {
	f := serve(t, api.Config{})
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, test := range []struct {
		name, method, body string
		headers            []string
		status             int
	}{
		{"POST without a session", "POST", ping, nil, 400},
		{"a notification without a session", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400},
		{"a batch without a session", "POST", `[` + ping + `]`, nil, 400},
		{"GET without a session", "GET", "", nil, 400},
		{"DELETE without a session", "DELETE", "", nil, 400},
		{"an empty session", "POST", ping, []string{"Mcp-Session-Id: "}, 404},
		{"POST to an unknown session", "POST", ping, []string{"Mcp-Session-Id: x"}, 404},
		{"initialize in an unknown session", "POST", mcpInitialize, []string{"Mcp-Session-Id: x"}, 404},
		{"GET of an unknown session", "GET", "", []string{"Mcp-Session-Id: x"}, 404},
		{"DELETE of an unknown session", "DELETE", "", []string{"Mcp-Session-Id: x"}, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := f.ask(test.method, "/mcp", test.body, append(test.headers, mcpAccept)...); got.status != test.status {
				t.Errorf("%d %s, want %d", got.status, got.body, test.status)
			}
		})
	}
	if got := f.ask("GET", "/v1/episodes", ""); !strings.Contains(got.body, `"episodes":[]`) {
		t.Errorf("an episode has begun: %s", got.body)
	}
}
