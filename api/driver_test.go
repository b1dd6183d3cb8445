package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// A driver sends requests that are drawn from the OpenAPI document to a server,
// and holds the answers to the document.
type driver struct {
	url     string
	client  *http.Client
	doc     *contract
	ops     []operation
	root    map[string]any
	words   *vocabulary // of properties, and of path parameters by their path
	records *faultLog
	mu      sync.Mutex
	seen    map[string]int // answers by operation and status
}

// A faultLog keeps the records of faults, and of all panics.
type faultLog struct {
	mu     sync.Mutex
	faults []string
}

func (l *faultLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *faultLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *faultLog) WithGroup(string) slog.Handler            { return l }

func (l *faultLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.Key + "=" + a.Value.Resolve().String()
		return true
	})
	if r.Level >= slog.LevelError || strings.Contains(text, "panic") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.faults = append(l.faults, text)
	}
	return nil
}

// take returns the faults since the last call.
func (l *faultLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	faults := l.faults
	l.faults = nil
	return faults
}

// newDriver starts a server whose bounds are small enough to be reached.
func newDriver(t testing.TB) *driver {
	t.Helper()
	d := &driver{records: &faultLog{}, seen: map[string]int{}}
	var mu sync.Mutex
	ids := 0
	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()}, Data: t.TempDir(), Logger: slog.New(d.records),
		Tokens: []api.Token{token(t, "alice", api.Play), token(t, "carol", api.Score), token(t, "tom", api.Train), token(t, "root", api.Admin)},
		Ollama: []string{scripted(t, nil)}, MaxEpisodes: 12, MaxSteps: 20, MaxRuns: 2, MaxEvals: 2, MaxBody: 1 << 14,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprintf("id-%d", ids)
		}})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	transport := &http.Transport{}
	d.url, d.client = listening.URL, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		listening.Close()
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	document := d.send(t, sent{method: "GET", target: "/openapi.json"})
	d.doc = parseContract(t, document.body)
	if err := json.Unmarshal([]byte(document.body), &d.root); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(d.doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.doc.Paths[path])) {
			d.ops = append(d.ops, d.doc.Paths[path][method])
		}
	}
	d.words = newVocabulary(t, d.doc)
	return d
}

// A sent is a request as it goes over the wire.
type sent struct {
	op                   operation
	method, target, body string
	header               http.Header
	host                 string
}

func (s sent) String() string {
	return fmt.Sprintf("%s %.500s\n%v\n%.3000s\n", s.method, s.target, s.header, s.body)
}

// patience is how long an answer may take before the server is said to hang.
const patience = 60 * time.Second

// send sends a request and reads its answer; of events, those that come soon.
func (d *driver) send(t testing.TB, s sent) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	path, query, _ := strings.Cut(s.target, "?")
	r, err := http.NewRequestWithContext(ctx, s.method, d.url, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	r.URL = &url.URL{Scheme: "http", Host: r.URL.Host, Opaque: path, RawQuery: query}
	if s.header != nil {
		r.Header = s.header
	}
	if s.host != "" {
		r.Host = s.host
	}
	response, err := d.client.Do(r)
	if err != nil {
		t.Fatalf("%v\nafter %s", err, s)
	}
	defer func() { _ = response.Body.Close() }()
	events := response.Header.Get("Content-Type") == "text/event-stream"
	if events {
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	}
	text, err := io.ReadAll(response.Body)
	if err != nil && !events {
		t.Errorf("the answer breaks off: %v\nafter %s", err, s)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// play sends a sequence of requests that one seed draws, and ends what they
// have begun.
func (d *driver) play(t testing.TB, seed uint64, n int) {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), root: d.root, words: d.words}
	for range n {
		s := d.draw(g)
		d.judge(t, s, d.send(t, s))
	}
	d.clear(t)
	for _, fault := range d.records.take() {
		t.Errorf("logged: %s", fault)
	}
}

// judge holds an answer to the document, and learns from it.
func (d *driver) judge(t testing.TB, s sent, got answer) {
	t.Helper()
	d.mu.Lock()
	d.seen[fmt.Sprint(s.op.OperationID, " ", got.status)]++
	d.mu.Unlock()
	flaws := d.doc.breaches(s.method, pathOnly(s.target), got)
	if got.status >= 500 && (got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "") {
		flaws = append(flaws, "a fault of the server's")
	}
	if got.status >= 400 && len(got.body) > 6000 {
		flaws = append(flaws, fmt.Sprintf("%d bytes of refusal", len(got.body)))
	}
	for _, flaw := range flaws {
		t.Errorf("%s\nafter %s\nanswered %d %v\n%s", flaw, s, got.status, got.header, shortened(got.body))
	}
	var value any
	if got.status < 300 && json.Unmarshal([]byte(got.body), &value) == nil {
		d.words.learnAll("", value)
	}
	if location := got.header.Get("Location"); got.status == http.StatusCreated {
		for _, op := range d.ops {
			if list, ok := strings.CutSuffix(op.path, "/{id}"); ok && strings.HasPrefix(location, list+"/") {
				d.words.learn(list+"/", strings.TrimPrefix(location, list+"/"))
			}
		}
	}
}

func pathOnly(target string) string {
	path, _, _ := strings.Cut(target, "?")
	return path
}

// clear deletes what is there, so that sequences begin alike.
func (d *driver) clear(t testing.TB) {
	t.Helper()
	for _, list := range []string{"/v1/policy/runs", "/v1/evals", "/v1/episodes"} {
		d.words.forget(list + "/")
		for range 2 { // the first time ends what runs
			got := d.send(t, sent{method: "GET", target: list, header: asRoot()})
			for _, field := range regexp.MustCompile(`"(?:id|run)":("(?:[^"\\]|\\.)*")[,}]`).FindAllStringSubmatch(got.body, -1) {
				var name string
				if json.Unmarshal([]byte(field[1]), &name) == nil {
					d.send(t, sent{method: "DELETE", target: list + "/" + url.PathEscape(name), header: asRoot()})
				}
			}
		}
	}
}

func asRoot() http.Header {
	name, value, _ := strings.Cut(bearer("root"), ": ")
	return http.Header{name: {value}}
}
