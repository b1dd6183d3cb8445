package main

import (
	"fmt"
	"net/http"
	"strings"
)

// sessionHeader names an MCP session.
const sessionHeader = "Mcp-Session-Id"

// initializing begins an MCP session.
const initializing = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"loadtest","version":"1"}}}`

// mcpHeaders are those of a request in a session; "" begins one.
func mcpHeaders(session string) []string {
	headers := []string{"Accept: application/json, text/event-stream"}
	if session != "" {
		headers = append(headers, sessionHeader+": "+session)
	}
	return headers
}

// session begins an MCP session, sends the messages in it, and ends it. Without
// a session, since there is no room for one, it sends nothing.
func session(messages func(a *attacker) []string) func(*attacker) {
	return func(a *attacker) {
		begun := a.ask(message{http.MethodPost, "/mcp?task_id=gridworld/0/1", []byte(initializing), mcpHeaders("")})
		id := begun.header.Get(sessionHeader)
		if id == "" {
			return
		}
		for _, text := range messages(a) {
			a.ask(message{http.MethodPost, "/mcp", []byte(text), mcpHeaders(id)})
		}
		a.ask(message{http.MethodDelete, "/mcp", nil, mcpHeaders(id)})
	}
}

// calls are requests of one method, with each of the params.
func calls(method string, params ...string) func(*attacker) []string {
	return func(*attacker) (list []string) {
		for i, p := range params {
			list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i+2, method, p))
		}
		return list
	}
}

// verbatim are messages as they are.
func verbatim(list ...string) func(*attacker) []string {
	return func(*attacker) []string { return list }
}

// mcpAttacks are hostile MCP clients. What is wrong with a message is told as a
// JSON-RPC error, with status 200, or by a status of HTTP.
func mcpAttacks() []attack {
	accept := []int{200, 202, 204, 400, 404, 405, 409, 413, 415, 422}
	row := func(name string, send func(*attacker)) attack {
		return attack{name: "MCP: " + name, target: "the process", accept: accept, send: send}
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	return []attack{
		row("calls without a name", session(calls("tools/call", `{}`, `{"name":""}`, `{"arguments":{}}`, `null`, `{"name":null}`, `{"name":"","arguments":null}`))),
		row("calls of another form", session(calls("tools/call", `[]`, `"move_up"`, `1`, `{"name":1}`, `{"name":"move_up","arguments":[]}`, `{"name":"move_up","arguments":"x"}`,
			`{"name":"move_up","arguments":null}`, `{"name":"move_up","_meta":1}`, `{"name":"move_up","_meta":{"progressToken":{}}}`, `{"name":"move_up","name":""}`, `{"Name":"move_up"}`))),
		row("calls without params", session(verbatim(`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`, `{"jsonrpc":"2.0","method":"tools/call"}`, `{"jsonrpc":"2.0","method":"tools/call","params":{}}`))),
		row("methods without params", session(func(*attacker) (list []string) {
			for i, method := range []string{"tools/list", "resources/read", "resources/list", "resources/subscribe", "prompts/get", "prompts/list", "completion/complete", "logging/setLevel",
				"notifications/cancelled", "notifications/progress", "notifications/initialized", "notifications/roots/list_changed", "sampling/createMessage", "roots/list", "", "x"} {
				list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, i+2, method), fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method),
					fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, i+100, method), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":null}`, i+200, method))
			}
			return list
		})),
		row("malformed JSON-RPC", session(verbatim(``, `{`, `null`, `1`, `""`, `{}`, `{"jsonrpc":"1.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":1}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":2,"error":{}}`, `{"jsonrpc":"2.0","id":2}`, ping+ping,
			`{"jsonrpc":"2.0","id":2,"method":"ping","params":`+nested(5000, `{"a":`, `1`, `}`)+`}`, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"\xff\"}"))),
		row("batches", session(verbatim(`[]`, `[[]]`, `[null]`, `[`+ping+`,`+ping+`]`, `[`+initializing+`,`+initializing+`]`, `[`+times(200_000, ping)+`]`, `[`+ping+`,1,{}]`))),
		row("a second initialize", session(verbatim(initializing, initializing, `{"jsonrpc":"2.0","id":2,"method":"initialize"}`, `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"move_up"}}`))),
		row("initialize of another form", func(a *attacker) {
			for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"initialize","params":{}}`,
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":""}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`} {
				got := a.ask(message{http.MethodPost, "/mcp", []byte(text), mcpHeaders("")})
				if id := got.header.Get(sessionHeader); id != "" {
					a.ask(message{http.MethodPost, "/mcp", []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}`), mcpHeaders(id)})
					a.ask(message{http.MethodDelete, "/mcp", nil, mcpHeaders(id)})
				}
			}
		}),
		row("session ids that there are not", func(a *attacker) {
			for _, id := range []string{"x", "../x", strings.Repeat("x", 5000)} {
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
					a.ask(message{method, "/mcp", []byte(ping), mcpHeaders(id)})
				}
			}
		}),
		row("another's episode as a session", func(a *attacker) {
			if id := a.someEpisode.Load(); id != nil {
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
					a.ask(message{method, "/mcp", []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"move_up"}}`), mcpHeaders(*id)})
				}
			}
		}),
		row("odd headers", func(a *attacker) {
			for _, header := range []string{"Mcp-Protocol-Version: x", "Accept: text/html", "Last-Event-Id: x", "Content-Type: text/plain"} {
				a.ask(message{http.MethodPost, "/mcp", []byte(initializing), append(mcpHeaders(""), header)})
				a.ask(message{http.MethodGet, "/mcp", nil, append(mcpHeaders(""), header)})
			}
		}),
		row("tasks that there are not", func(a *attacker) {
			for _, query := range []string{"task_id=x", "task_id=gridworld/9/1", "task_id=a&task_id=b", "x=1", "task_id=gridworld/0/99999999999999999999"} {
				a.ask(message{http.MethodPost, "/mcp?" + query, []byte(initializing), mcpHeaders("")})
			}
		}),
	}
}
