package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	toolgym "toolgym/api/client"
	"toolgym/tools"
)

// MCP is a session with an MCP server. It is a [tools.Caller]: pass it to
// [EpisodeTools] or to [Agent.Play]. At /mcp?task_id=… of "toolgym serve" a
// session is an episode whose steps have rewards and an end; steps of other
// servers have neither. The SDK loses the order of a schema's properties.
type MCP struct {
	session *mcp.ClientSession
	set     tools.Set
}

var _ tools.Caller = (*MCP)(nil)

// DialMCP opens a session at the endpoint of a server (streamable HTTP) and
// lists its tools. A nil client means http.DefaultClient. A tool whose schema
// does not compile is an error. An error response of a toolgym server, such as
// for an unknown task, is a [*tools.Error].
func DialMCP(ctx context.Context, endpoint string, client *http.Client) (*MCP, error) {
	http, problems := recordProblems(client)
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: http, DisableStandaloneSSE: true}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "toolgym-plugin", Version: "1"}, nil).Connect(ctx, transport, nil)
	if reason := problems.reason(); err != nil && reason != nil {
		err = reason
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", endpoint, err)
	}
	m := &MCP{session: session}
	if m.set, err = list(ctx, session); err != nil {
		_ = session.Close() // the first error is returned
		return nil, fmt.Errorf("listing the tools of %s: %w", endpoint, err)
	}
	return m, nil
}

func list(ctx context.Context, session *mcp.ClientSession) (tools.Set, error) {
	var set tools.Set
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("encoding the schema of %q: %w", t.Name, err)
		}
		declared, err := tools.Declare(t.Name, t.Description, schema)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		set = append(set, declared)
	}
	return set, nil
}

// Tools returns the tools of the server, in its order.
func (m *MCP) Tools() tools.Set { return m.set }

// Step makes one call. A mistake of the agent is an error result; an error
// means that the server or the connection failed.
func (m *MCP) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	t, known := m.set.Lookup(call.Name)
	if known {
		if violations := t.Validate(arguments); len(violations) > 0 && violations[0].Keyword == "json" {
			return tools.Transition(call, errorResult("arguments of "+call.Name+": "+violations[0].Message), 0), nil
		}
	}
	reply, err := m.session.CallTool(ctx, &mcp.CallToolParams{Name: call.Name, Arguments: arguments})
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s over MCP: %w", call.Name, err)
	}
	result, err := resultOf(reply)
	if err != nil {
		return tools.Step{}, fmt.Errorf("reading the result of %s: %w", call.Name, err)
	}
	return stepOf(reply.Meta, call, result), nil
}

// stepOf reads reward and end of a step from the metadata of toolgym's own
// server.
func stepOf(meta mcp.Meta, call tools.Call, result tools.Result) tools.Step {
	reward, _ := meta["toolgym/reward"].(float64)
	switch {
	case meta["toolgym/terminated"] == true:
		return tools.Termination(call, result, reward)
	case meta["toolgym/truncated"] == true:
		return tools.Truncation(call, result, reward)
	}
	return tools.Transition(call, result, reward)
}

// Instructions returns the instructions of the server. A toolgym server sends
// the prompt of the task and the first observation.
func (m *MCP) Instructions() string { return m.session.InitializeResult().Instructions }

// Close ends the session and its episode.
func (m *MCP) Close() error { return m.session.Close() }

// resultOf prefers a text that is an object, since the SDK decodes structured
// content through float64. Any other text becomes {"result": text}.
func resultOf(reply *mcp.CallToolResult) (tools.Result, error) {
	var text strings.Builder
	for _, part := range reply.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if reply.StructuredContent != nil && !isObject(text.String()) {
		structured, err := json.Marshal(reply.StructuredContent)
		return tools.Result{Content: structured, IsError: reply.IsError}, err
	}
	if reply.IsError && !isObject(text.String()) {
		return errorResult(text.String()), nil
	}
	body, err := content(text.String())
	return tools.Result{Content: body, IsError: reply.IsError}, err
}

// problemRecorder keeps the problem document of the last error response of a
// toolgym server. The MCP SDK returns only the status.
type problemRecorder struct {
	next http.RoundTripper

	mu   sync.Mutex
	last error
}

// recordProblems returns a copy of the client that keeps problem documents; nil
// means http.DefaultClient.
func recordProblems(client *http.Client) (*http.Client, *problemRecorder) {
	if client == nil {
		client = http.DefaultClient
	}
	recording, kept := *client, &problemRecorder{next: client.Transport}
	if kept.next == nil {
		kept.next = http.DefaultTransport
	}
	recording.Transport = kept
	return &recording, kept
}

// RoundTrip returns the response unchanged.
func (r *problemRecorder) RoundTrip(request *http.Request) (*http.Response, error) {
	const longest = 64 << 10
	answer, err := r.next.RoundTrip(request)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media != "application/problem+json" {
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	var problem toolgym.Problem
	if err == nil && json.Unmarshal(text, &problem) == nil {
		r.mu.Lock()
		r.last = problem.Err()
		r.mu.Unlock()
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), answer.Body), answer.Body}
	return answer, nil
}

// reason returns the last problem; nil without one.
func (r *problemRecorder) reason() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (r *problemRecorder) CloseIdleConnections() {
	if idle, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}
