package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolgym/internal/goroutine"
	"toolgym/internal/quota"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Over MCP a session is an episode: it begins when the session is initialized,
// has the session's id, and can be looked at over REST, also afterwards.

const sessionHeader = "Mcp-Session-Id"

// sessions are the MCP sessions that are open, for Shutdown to close.
type sessions struct {
	quota   *quota.Quota
	open    sync.WaitGroup
	mu      sync.Mutex
	live    map[*mcp.ServerSession]openSession
	closing bool
	failed  func(error) // logs a panic of the wait for a session
}

// An openSession is whose session it is, and when it has ended.
type openSession struct {
	*player
	ended chan struct{}
}

// add takes the session of a player in, until it ends by itself or with the
// server.
func (l *sessions) add(p *player, session *mcp.ServerSession) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return &tools.Error{Code: tools.Unavailable, Message: "the server is shutting down"}
	}
	if _, ok := l.live[session]; ok {
		return nil
	}
	release, err := l.quota.Take(p.who.name, 1)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	l.live[session] = openSession{p, ended}
	goroutine.Go(&l.open, func() {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.live, session)
		}()
		defer close(ended)
		defer release()
		_ = session.Wait() // how the client left does not matter
	}, l.failed)
	return nil
}

// room reports whether an owner may begin a session. When there is no room,
// the owner's sessions end whose episodes have ended, and all whose episodes are
// no longer there: clients often leave without closing theirs.
func (l *sessions) room(owner string, episodes *table) error {
	err := l.quota.Check(owner, 1)
	if err == nil {
		return nil
	}
	for session, ended := range l.over(owner, episodes) {
		_ = session.Close() // the client may be gone
		<-ended
	}
	return l.quota.Check(owner, 1)
}

// over lists the sessions that room ends.
func (l *sessions) over(owner string, episodes *table) map[*mcp.ServerSession]chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := map[*mcp.ServerSession]chan struct{}{}
	for session, open := range l.live {
		if live, over := episodes.stands(open.id); !live || over && open.who.name == owner {
			list[session] = open.ended
		}
	}
	return list
}

// close ends all sessions and waits for them.
func (l *sessions) close() {
	l.mu.Lock()
	l.closing = true
	var live []*mcp.ServerSession
	for session := range l.live {
		live = append(live, session)
	}
	l.mu.Unlock()
	for _, session := range live {
		_ = session.Close() // the client may be gone
	}
	l.open.Wait()
}

// mcpRoutes serve MCP. What a page elsewhere could send is refused by guarded,
// as for every route.
func (s *Server) mcpRoutes() {
	handler := mcp.NewStreamableHTTPHandler(s.forRequest, &mcp.StreamableHTTPOptions{
		JSONResponse: true, Logger: quiet(), SessionTimeout: s.config.IdleExpiry, MaxRequestBodyBytes: s.config.MaxBody,
		DisableLocalhostProtection: true, // guarded has checked the Host, and knows Config.AllowHosts
	})
	serve := requires(Play, func(c echo.Context) error {
		if err := s.admitSession(c.Request()); err != nil {
			return edgeFailure(err)
		}
		if answered, err := s.admitMessages(c); err != nil || answered {
			return err
		}
		c.Request().Header.Set(echo.HeaderXRequestID, exchangeOf(c.Request().Context()).id) // for requestID
		if c.Request().Method == http.MethodGet {
			// A stream is open as long as the session.
			release, err := s.shares.events.Take(exchangeOf(c.Request().Context()).caller.name, 1)
			if err != nil {
				return edgeFailure(err)
			}
			defer release()
		}
		s.unhurried(c)
		handler.ServeHTTP(c.Response(), c.Request())
		return nil
	})
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		s.echo.Add(method, "/mcp", s.weighedForm(serve))
	}
}

// quiet is a logger for what the request's own record says as well.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// admitSession checks what a request says before the SDK sees it: the task of a
// new session, the owner of one that is there.
func (s *Server) admitSession(r *http.Request) error {
	if ids := r.Header.Values(sessionHeader); len(ids) > 0 {
		if _, err := s.find(r.Context(), ids[0]); err != nil || len(ids) > 1 {
			return &tools.Error{Code: tools.NotFound, Where: sessionHeader, Message: "there is no such session", Want: "a new one"}
		}
		return nil
	}
	if _, _, err := s.taskOf(r.URL.Query()); err != nil || r.Method != http.MethodPost {
		return err
	}
	return s.sessions.room(exchangeOf(r.Context()).caller.name, s.episodes)
}

// admitMessages reads the messages of a POST before the SDK does. Those that are
// malformed, and a request without a session that does not open one, are answered
// with 400 and a JSON-RPC error.
func (s *Server) admitMessages(c echo.Context) (answered bool, err error) {
	r := c.Request()
	if media, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType)); r.Method != http.MethodPost || err != nil || media != echo.MIMEApplicationJSON {
		return false, nil //nolint:nilerr // the SDK refuses other types
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, s.config.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return false, fail(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", s.config.MaxBody))
	}
	if err != nil {
		return false, fail(http.StatusBadRequest, "the body broke off")
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	list, _, err := readMessages(text)
	if err == nil && r.Header.Get(sessionHeader) == "" && !opens(list) {
		err = malformedf(jsonrpc.CodeInvalidRequest, list[0].id, "invalid request: the header %s is missing; expected it on all requests but initialize", sessionHeader)
	}
	refused, ok := errors.AsType[*malformed](err)
	if !ok {
		return false, err
	}
	if err := c.Blob(http.StatusBadRequest, echo.MIMEApplicationJSON, refused.body()); err != nil {
		return true, nil //nolint:nilerr // the client is gone
	}
	return true, nil
}

// opens reports whether messages may come without a session: the one that opens
// it, and what newer clients ask first, which the SDK answers with the protocol
// versions of this server.
func opens(list []message) bool {
	return len(list) == 1 && (list[0].method == "initialize" || list[0].method == "server/discover")
}

// taskOf finds the task that the URL names: the first of the first environment
// where it names none.
func (s *Server) taskOf(query url.Values) (tools.Spec, tools.Task, error) {
	for name, values := range query {
		if name != "task_id" || len(values) != 1 {
			return tools.Spec{}, tools.Task{}, refusal.New(name, "task_id, once", "the parameter %.80q means nothing here, or stands twice", name)
		}
	}
	if id := query.Get("task_id"); id != "" {
		return s.config.Specs.Task(id)
	}
	spec := s.config.Specs[0]
	task, err := spec.Task("", "", 0)
	return spec, task, err
}

// forRequest is the MCP server of a request. The SDK asks for it even when the
// session is there already, and then only to see which versions it speaks.
func (s *Server) forRequest(r *http.Request) *mcp.Server {
	spec, task, err := s.taskOf(r.URL.Query())
	if err != nil {
		spec = s.config.Specs[0] // of a session that is there; admitSession has refused the rest
	}
	return s.newPlayer(exchangeOf(r.Context()).caller, spec, task).server()
}

// A player is an MCP session, the episode that it plays, and whose it is.
type player struct {
	*Server
	who  caller
	spec tools.Spec
	task tools.Task
	id   string

	begun atomic.Bool // the session is initialized
}

func (s *Server) newPlayer(who caller, spec tools.Spec, task tools.Task) *player {
	return &player{Server: s, who: who, spec: spec, task: task, id: s.config.NewID()}
}

// server declares the tools. The versions are those that have sessions.
func (p *player) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "toolgym", Title: "toolgym: " + p.task.ID, Version: p.config.Version}, &mcp.ServerOptions{
		GetSessionID: func() string { return p.id }, Logger: quiet(), Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SupportedProtocolVersions: []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"},
	})
	for _, tool := range p.spec.Tools(p.task.Rules, p.task.Level) {
		server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.Parameters}, p.call)
	}
	server.AddReceivingMiddleware(p.recovered, p.answer)
	return server
}

// recovered is the outermost middleware: the SDK runs every method in a goroutine
// of its own, in which a panic ends the process. It fails the request; the session
// and all others continue.
func (p *player) recovered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
		ctx = p.acting(ctx, request)
		err = goroutine.Run(func() (err error) {
			result, err = next(ctx, method, request)
			return err
		})
		if _, ok := errors.AsType[*goroutine.PanicError](err); ok {
			return nil, p.hidden(ctx, method, err)
		}
		return result, err
	}
}

// answer stands before the SDK's own methods. Initializing begins the episode;
// all calls are the environment's to judge, those of tools that there are not
// as well: that is the agent's mistake, and costs a step.
func (p *player) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		switch r := request.(type) {
		case *mcp.ServerRequest[*mcp.InitializeParams]:
			return p.initialize(ctx, method, r, next)
		case *mcp.CallToolRequest:
			result, err := p.call(ctx, r)
			if err != nil {
				return nil, err // without the type of a result, which the SDK takes for one
			}
			return result, nil
		case *mcp.SubscriptionsListenRequest: // of a protocol version without sessions; it would hold the answer open
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		result, err := next(ctx, method, request)
		if listed, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			p.inOrder(listed.Tools)
		}
		return result, err
	}
}

// inOrder puts tools, which the SDK sorts by name, into the order that they are
// shown in everywhere else.
func (p *player) inOrder(list []*mcp.Tool) {
	names := p.spec.Tools(p.task.Rules, p.task.Level).Names()
	slices.SortFunc(list, func(a, b *mcp.Tool) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
}

// initialize begins the episode, once in a session. The specification lets a
// client initialize only as its first interaction.
func (p *player) initialize(ctx context.Context, method string, r *mcp.ServerRequest[*mcp.InitializeParams], next mcp.MethodHandler) (mcp.Result, error) {
	if p.begun.Load() { // the SDK runs these one after another
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: the session is initialized; open another for another episode"}
	}
	instructions, err := p.begin(ctx, r.Session)
	if err != nil {
		return nil, p.hidden(ctx, method, err)
	}
	p.begun.Store(true)
	result, err := next(ctx, method, r)
	if initialized, ok := result.(*mcp.InitializeResult); ok && err == nil {
		initialized.Instructions = instructions
	}
	return result, err
}

// begin begins the episode and says what it is about. It comes before the SDK's
// own part: a session that was never initialized is closed by the SDK.
func (p *player) begin(ctx context.Context, session *mcp.ServerSession) (instructions string, err error) {
	if err := p.sessions.add(p, session); err != nil {
		return "", err
	}
	state, err := p.openAs(ctx, p.id, p.spec, p.task, nil)
	if err != nil {
		return "", err
	}
	var text []string
	for _, message := range p.task.Prompt {
		text = append(text, message.Content)
	}
	return strings.Join(append(text, "You observe: "+string(state.Body.Observation)), "\n\n"), nil
}

// acting is a context in which the session's owner acts.
func (p *player) acting(ctx context.Context, request mcp.Request) context.Context {
	return context.WithValue(ctx, exchangeKey{}, &exchange{id: p.requestID(request), caller: p.who})
}

// requestID is the id of the HTTP request that brought an MCP request, or a new
// one where none did. The SDK's contexts are the session's, not the request's.
func (p *player) requestID(request mcp.Request) string {
	if extra := request.GetExtra(); extra != nil {
		if id := extra.Header.Get(echo.HeaderXRequestID); id != "" {
			return id
		}
	}
	return p.config.NewID()
}

// call plays a call. A call after the end is answered like a mistake, for the
// model to read: most clients show it nothing else.
//
// A call without a name is an error of the protocol, and no step. CallToolParams
// of the specification requires the name, and a request that does not match its
// schema is answered with a protocol error ("Error Handling" under Tools). The
// SDK decodes a missing name as an empty one, which the specification asks servers
// not to give to a tool ("Tool Names": 1 to 128 characters), so both are refused. An
// unknown tool stays the agent's mistake: a model chooses the name, and is to learn
// from the result.
func (p *player) call(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if request.Params == nil || request.Params.Name == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: name: got none; expected the name of a tool"}
	}
	answered, err := p.play(ctx, p.id, move{call: tools.Call{Name: request.Params.Name, Arguments: request.Params.Arguments}})
	if e, ok := errors.AsType[*tools.Error](err); ok && (e.Code == tools.Conflict || e.Code == tools.Gone) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: e.Error()}}, IsError: true}, nil
	}
	if err != nil {
		return nil, p.hidden(ctx, "tools/call", err)
	}
	step := answered.Body
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(step.Result.Content)}},
		StructuredContent: step.Result.Content, IsError: step.Result.IsError,
		Meta: mcp.Meta{"toolgym/reward": step.Reward, "toolgym/terminated": step.Terminated, "toolgym/truncated": step.Truncated, "toolgym/step": step.Step},
	}, nil
}

// hidden is an error as the client may see it; what it may not goes to the log.
func (p *player) hidden(ctx context.Context, method string, err error) error {
	f, id := failureOf(nil, err), exchangeOf(ctx).id
	if f == nil || f.fault != nil {
		p.config.Logger.LogAttrs(ctx, slog.LevelError, "mcp", slog.String("session", p.id), slog.String("request_id", id), slog.String("method", method), goroutine.Attr(err))
	}
	if f != nil {
		code := int64(codeServer)
		if f.Code == tools.Invalid || f.Code == tools.NotFound {
			code = jsonrpc.CodeInvalidParams
		}
		return &jsonrpc.Error{Code: code, Message: f.Detail}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error; the server's log says why, under the request id " + id}
}

// ServeMCP speaks MCP with one client over a pair of streams, such as stdin and
// stdout: one session, the episode of one task. It returns when the client
// closes its side, or the context ends.
func (s *Server) ServeMCP(ctx context.Context, taskID string, in io.ReadCloser, out io.WriteCloser) error {
	spec, task, err := s.config.Specs.Task(taskID)
	if err != nil {
		return err
	}
	server := s.newPlayer(caller{roles: []string{Admin}}, spec, task).server()
	streams := newMCPStreams(ctx, in, out, s.config.CallTimeout, int(s.config.MaxBody))
	if err := server.Run(ctx, &mcp.IOTransport{Reader: streams, Writer: streams}); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("speaking MCP: %w", err)
	}
	return nil
}

// codeServer is the JSON-RPC code of errors of this server that have no code of
// their own: the first of the range that the specification leaves to servers.
const codeServer = -32000

// A message is one JSON-RPC message as it was sent, checked for what the SDK does
// not check, or answers by ending the session.
type message struct {
	text   json.RawMessage
	method string // empty for a response
	id     any    // int64, string, or nil for a notification
	params json.RawMessage
}

// call reports whether the message asks for an answer.
func (m message) call() bool { return m.method != "" && m.id != nil }

// A malformed message is answered with a JSON-RPC error.
type malformed struct {
	id  any // nil where it cannot be told
	err *jsonrpc.Error
}

func (m *malformed) Error() string { return m.err.Message }

// body is the answer.
func (m *malformed) body() []byte {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.id, "error": m.err})
	if err != nil {
		panic(fmt.Sprintf("api: a JSON-RPC error that cannot be written: %v", err)) // it is made of strings and numbers
	}
	return text
}

func malformedf(code int64, id any, format string, args ...any) *malformed {
	return &malformed{id, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// readMessages reads a message, or a batch of them. The error is a *malformed.
func readMessages(text []byte) (list []message, batch bool, err error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, false, malformedf(jsonrpc.CodeParseError, nil, "parse error: the message is not JSON in UTF-8")
	}
	var parts []json.RawMessage
	if json.Unmarshal(text, &parts) != nil || parts == nil { // null is no list
		m, err := readMessage(text)
		return []message{m}, false, err
	}
	if len(parts) == 0 {
		return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the batch is empty")
	}
	seen := map[any]bool{}
	for i, part := range parts {
		m, err := readMessage(part)
		if err != nil {
			return nil, true, err
		}
		if m.method == "initialize" {
			return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: initialize must not be part of a batch")
		}
		if m.call() && seen[m.id] {
			return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the id of message %d of the batch is used twice", i+1)
		}
		seen[m.id] = true
		list = append(list, m)
	}
	return list, true, nil
}

// readMessage reads one message.
func readMessage(text []byte) (message, error) {
	var fields map[string]json.RawMessage // unlike those of a struct, keys are told apart by case, as by the SDK
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the message must be a JSON object")
	}
	id, err := readID(fields["id"])
	if err != nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: id: %v", err)
	}
	decoded, err := jsonrpc.DecodeMessage(text) // as the SDK does, which ends the session over an error
	if err != nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, id, "invalid request: expected a JSON-RPC 2.0 message, nested at most 1000 deep")
	}
	m := message{text: text, id: id}
	if request, ok := decoded.(*jsonrpc.Request); ok {
		m.method, m.params = request.Method, request.Params
		if m.method == "" {
			return message{}, malformedf(jsonrpc.CodeInvalidRequest, id, "invalid request: the method is empty")
		}
		if m.method == "initialize" && !bytes.HasPrefix(m.params, []byte("{")) { // the SDK's error has no code
			return message{}, malformedf(jsonrpc.CodeInvalidParams, id, "invalid params: initialize: expected an object")
		}
	}
	return m, nil
}

// maxIDLength bounds the bytes of an id, which answers repeat.
const maxIDLength = 256

// readID reads the id of a message: an int64, a string, or nil where there is
// none. The SDK takes every number through a float64, so that one which is not a
// small integer would come back as another.
func readID(text json.RawMessage) (any, error) {
	if text == nil {
		return nil, nil
	}
	if len(text) > maxIDLength {
		return nil, fmt.Errorf("got %d bytes; expected at most %d", len(text), maxIDLength)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, errors.New("expected a string or an integer") // a number beyond float64
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int64(v), nil
		}
		return nil, errors.New("expected an integer of at most 53 bits")
	}
	return nil, errors.New("expected a string or an integer")
}
