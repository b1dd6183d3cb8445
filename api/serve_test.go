package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
)

// listen takes a free port of the loopback.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// stuck is a server on a listener, with an episode whose call "wait" stays until it
// is released.
func stuck(t *testing.T) (f *fixture, episode string, faults *tallyFaults, served chan error) {
	t.Helper()
	faults = &tallyFaults{entered: make(chan struct{}), release: make(chan struct{})}
	f = serve(t, api.Config{Specs: tools.Specs{tallySpec(faults)}})
	listener := listen(t)
	served = make(chan error)
	go func() { served <- f.server.Serve(listener) }()
	f.url = "http://" + listener.Addr().String()
	return f, f.begin("tally/0/9"), faults, served
}

// TestShutdownFinishesRunningCalls shuts down in the middle of a call: it is
// answered, nothing new is taken, and Serve returns.
func TestShutdownFinishesRunningCalls(t *testing.T) {
	f, episode, faults, served := stuck(t)
	called := make(chan answer)
	go func() {
		called <- f.ask("POST", episode+"/calls", `{"name":"break","arguments":{"how":"wait"}}`)
	}()
	<-faults.entered
	stopped := make(chan error)
	go func() { stopped <- f.server.Shutdown(context.Background()) }()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := ready(f.server); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d while draining", got)
	}
	select {
	case err := <-stopped:
		t.Fatalf("Shutdown returned %v before the call did", err)
	default:
	}
	close(faults.release)
	if got := <-called; got.status != http.StatusOK || !strings.Contains(got.body, `"step":1`) {
		t.Errorf("the running call: %d %s", got.status, got.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

// ready asks /readyz without a connection.
func ready(handler http.Handler) int {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/readyz", nil)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

// TestShutdownGivesUp: a call that does not end is cut off when the time is up.
func TestShutdownGivesUp(t *testing.T) {
	f, episode, faults, served := stuck(t)
	cut := make(chan error)
	go func() {
		body := strings.NewReader(`{"name":"break","arguments":{"how":"wait"}}`)
		response, err := http.Post(f.url+episode+"/calls", "application/json", body)
		if err == nil {
			response.Body.Close()
		}
		cut <- err
	}()
	<-faults.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-cut; err == nil {
		t.Error("the call was answered")
	}
	close(faults.release)
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeKeepsToTheLoopback(t *testing.T) {
	f := serve(t, api.Config{})
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	err = f.server.Serve(listener)
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Forbidden {
		t.Errorf("%v, want forbidden", err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("the listener was left open")
	}
}

func TestServeMayLeaveTheLoopback(t *testing.T) {
	f := serve(t, api.Config{Tokens: []api.Token{token(t, "alice", api.Play)}})
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- f.server.Serve(listener) }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	f.url = "http://127.0.0.1:" + port
	if got := f.ask("GET", "/healthz", ""); got.status != http.StatusOK {
		t.Errorf("%d", got.status)
	}
	if err := errors.Join(f.server.Shutdown(t.Context()), <-served); err != nil {
		t.Error(err)
	}
}

// TestBrokenConnections sends what http.Client cannot: bodies that break off,
// lie about their length, or come without an end in sight.
func TestBrokenConnections(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"body breaks off", "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"task_id\"", "400 Bad Request"},
		{"chunk breaks off", "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{", "400 Bad Request"},
		{"chunk size is nonsense", "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{", "400 Bad Request"},
		{"two lengths", "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "400 Bad Request"},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "400 Bad Request"},
		{"no host", "GET /healthz HTTP/1.0\r\n\r\n", "421 Misdirected Request"},
		{"absolute form", "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "421 Misdirected Request"},
		{"no HTTP", "hello\r\n\r\n", "400 Bad Request"},
		{"header without an end", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<17) + "\r\n\r\n", "431 Request Header Fields Too Large"},
	}
	f := serve(t, api.Config{})
	listener := listen(t)
	served := make(chan error)
	go func() { served <- f.server.Serve(listener) }()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := sendRaw(t, listener.Addr().String(), test.raw)
			if line, _, _ := strings.Cut(got, "\r\n"); !strings.HasSuffix(line, test.want) {
				t.Errorf("%q, want %s", line, test.want)
			}
		})
	}
	f.url = "http://" + listener.Addr().String()
	if got := f.ask("GET", "/v1/episodes", ""); !strings.Contains(got.body, `"episodes":[]`) {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
	if strings.Contains(f.logged(), "level=ERROR") {
		t.Errorf("a client's mess is logged as ours: %s", f.logged())
	}
	if err := errors.Join(f.server.Shutdown(t.Context()), <-served); err != nil {
		t.Error(err)
	}
}

// sendRaw writes bytes, says that nothing follows, and reads to the end.
func sendRaw(t *testing.T, address, raw string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // a hang becomes a failure
	_, _ = io.WriteString(conn, raw)                       // the server may hang up before the end
	_ = conn.(*net.TCPConn).CloseWrite()
	text, _ := io.ReadAll(conn)
	return string(text)
}
