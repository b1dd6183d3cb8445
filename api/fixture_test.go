package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"toolgym/api"
	"toolgym/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fixture is a server on a real connection, with a clock that stands still
// until a test moves it, ids that count, and a log that can be read.
type fixture struct {
	t      *testing.T
	url    string
	server *api.Server

	mu    sync.Mutex
	now   time.Time
	ids   int
	names []string // the next ids
	log   bytes.Buffer
}

// serve starts a server of the tally environment.
func serve(t *testing.T, config api.Config) *fixture {
	t.Helper()
	return serveAt(t, config, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
}

func serveAt(t *testing.T, config api.Config, now time.Time) *fixture {
	t.Helper()
	f := unpluggedAt(t, config, now)
	listening := httptest.NewServer(f.server)
	t.Cleanup(listening.Close)
	f.url = listening.URL
	return f
}

// unplugged is a fixture without a connection: requests go to the handler, so
// that a synctest bubble can hold all of it.
func unplugged(t *testing.T, config api.Config) *fixture {
	t.Helper()
	return unpluggedAt(t, config, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
}

func unpluggedAt(t *testing.T, config api.Config, now time.Time) *fixture {
	t.Helper()
	f := &fixture{t: t, now: now}
	if config.Specs == nil {
		config.Specs = tools.Specs{tallySpec(nil)}
	}
	config.Now, config.NewID = f.time, f.newID
	config.Logger = slog.New(slog.NewTextHandler(f, nil))
	var err error
	if f.server, err = api.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) time() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) wait(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

func (f *fixture) newID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.names) > 0 {
		name := f.names[0]
		f.names = f.names[1:]
		return name
	}
	f.ids++
	return fmt.Sprintf("id-%d", f.ids)
}

// Write takes what the server logs.
func (f *fixture) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(line)
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

// An answer is what came back, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with the given headers, "Name: value" each.
func (f *fixture) ask(method, path, body string, headers ...string) answer {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	response, err := f.do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// do sends a request; where an answer leads elsewhere is for the test to see.
func (f *fixture) do(r *http.Request) (*http.Response, error) {
	if f.url != "" {
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		return client.Do(r)
	}
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
	w := httptest.NewRecorder()
	f.server.ServeHTTP(w, r)
	return w.Result(), nil
}

// begin starts an episode and returns the path of it.
func (f *fixture) begin(taskID string) string {
	f.t.Helper()
	started := f.ask("POST", "/v1/episodes", fmt.Sprintf(`{"task_id":%q}`, taskID))
	if started.status != http.StatusCreated {
		f.t.Fatalf("starting %s: %d %s", taskID, started.status, started.body)
	}
	return started.header.Get("Location")
}
