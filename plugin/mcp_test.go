package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	lctools "github.com/tmc/langchaingo/tools"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolgym/plugin"
	"toolgym/tools"
)

// mcpServer serves a set over MCP, and a tool whose answer is plain text.
func mcpServer(t *testing.T, set tools.Set) *httptest.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "statelessTools", Version: "1"}, nil)
	for _, tool := range set {
		server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.Parameters},
			func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				result, err := tool.Call(ctx, request.Params.Arguments)
				return &mcp.CallToolResult{StructuredContent: result.Content, IsError: result.IsError}, err
			})
	}
	server.AddTool(&mcp.Tool{Name: "zone", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "UTC"}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		web.Close()
		for session := range server.Sessions() { // of clients that could not say goodbye
			_ = session.Close()
		}
	})
	return web
}

func TestToolsOverMCP(t *testing.T) {
	noLeak(t)
	session, err := plugin.DialMCP(t.Context(), mcpServer(t, statelessTools()).URL, client(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	list, err := plugin.EpisodeTools(session)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]lctools.Tool{}
	for _, tool := range list {
		byName[tool.Name()] = tool
	}
	if diff := cmp.Diff(decoded(t, statelessTools()[0].Parameters), decoded(t, byName["add"].(plugin.Typed).Parameters())); diff != "" {
		t.Error(diff)
	}
	tests := []struct{ name, tool, input, want string }{
		{"a result", "add", `{"a":1,"b":2}`, `{"result":3}`},
		{"the one string", "measure", `four`, `{"result":4}`},
		{"a mistake", "divide", `{"a":1,"b":0}`, `{"error":"division by zero"}`},
		{"an unknown key", "add", `{"a":1,"b":2,"c":3}`, "additional properties 'c'"},
		{"no JSON", "add", `{"a":`, "arguments of add: "},
		{"text", "zone", ``, `{"result":"UTC"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := byName[test.tool].Call(t.Context(), test.input)
			if err != nil || !strings.Contains(got, test.want) {
				t.Errorf("got %s, %v, want …%s…", got, err, test.want)
			}
		})
	}
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMCPServerGone(t *testing.T) {
	noLeak(t)
	web := mcpServer(t, statelessTools())
	session, err := plugin.DialMCP(t.Context(), web.URL, client(t))
	if err != nil {
		t.Fatal(err)
	}
	web.CloseClientConnections()
	web.Close()
	if _, err := session.Step(t.Context(), tools.Call{Name: "ping"}); err == nil {
		t.Error("a call of a server that is gone succeeds")
	}
	_ = session.Close()
	if _, err := plugin.DialMCP(t.Context(), web.URL, client(t)); err == nil {
		t.Error("a server that is gone can be dialled")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plugin.DialMCP(ctx, web.URL, client(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
