package api_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// again shuts a server down and starts another on the same data, at the same
// moment of the same clock.
func (f *fixture) again(t *testing.T, config api.Config) *fixture {
	t.Helper()
	if err := f.server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	now := f.time()
	next := serveAt(t, config, now)
	next.ids = 1000
	return next
}

const addOne = `{"name":"add","arguments":{"n":1},"request_id":"one"}`

func TestEpisodesOutliveTheServer(t *testing.T) {
	config := api.Config{Data: t.TempDir(), IdleExpiry: time.Hour}
	f := serve(t, config)
	episode, other := f.begin("tally/0/3"), f.begin("tally/spoken/1")
	first := f.ask("POST", episode+"/calls", addOne)
	f.ask("POST", episode+"/calls", `{"name":"add", "arguments": {"n": 7e0, "x":"<&>"}}`) // a mistake is a step too
	f.ask("POST", other+"/messages", `{"content":"<done>","request_id":"said"}`)
	fork := f.ask("POST", episode+"/fork", "").header.Get("Location")
	deleted := f.begin("tally/0/1")
	f.ask("DELETE", deleted, "")
	paths := []string{episode, other, fork}
	var before []string
	for _, path := range paths {
		before = append(before, f.ask("GET", path, "").body)
	}
	listed := f.ask("GET", "/v1/episodes", "").body

	f = f.again(t, config)
	for i, path := range paths {
		if got := f.ask("GET", path, ""); got.body != before[i] {
			t.Errorf("%s was\n%s is\n%s", path, before[i], got.body)
		}
	}
	if got := f.ask("GET", "/v1/episodes", ""); got.body != listed {
		t.Errorf("the list was\n%s is\n%s", listed, got.body)
	}
	if got := f.ask("GET", deleted, ""); got.status != http.StatusNotFound {
		t.Errorf("the deleted one: %d", got.status)
	}
	if got := f.ask("POST", episode+"/calls", addOne); got.body != first.body {
		t.Errorf("the same request: %s, was %s", got.body, first.body)
	}
	if got := f.ask("POST", episode+"/calls", `{"name":"done","request_id":"one"}`); got.status != http.StatusConflict {
		t.Errorf("another call with its id: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":2}}`); !strings.Contains(got.body, `"sum":3`) || !strings.Contains(got.body, `"step":3`) {
		t.Errorf("going on: %s", got.body)
	}
	if got := f.ask("POST", other+"/calls", addOne); got.status != http.StatusConflict {
		t.Errorf("going on after the end: %d", got.status)
	}
}

func TestExpiryGoesOnWhileTheServerIsAway(t *testing.T) {
	config := api.Config{Data: t.TempDir(), IdleExpiry: time.Hour}
	f := serve(t, config)
	unused := f.begin("tally/0/3")
	f.wait(30 * time.Minute)
	used := f.begin("tally/0/4")
	f.wait(30*time.Minute - 1)
	f.ask("POST", used+"/calls", addOne)
	f.wait(1)
	f = f.again(t, config)
	if got := f.ask("GET", unused, ""); got.status != http.StatusGone {
		t.Errorf("the unused one: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", used, ""); got.status != http.StatusOK {
		t.Errorf("the used one: %d %s", got.status, got.body)
	}
	f.wait(time.Hour)
	f = f.again(t, config)
	if got := f.ask("POST", used+"/calls", addOne); got.status != http.StatusGone {
		t.Errorf("later: %d %s", got.status, got.body)
	}
}

// TestEpisodesAreExported: live ones, and those that are over.
func TestEpisodesAreExported(t *testing.T) {
	config := api.Config{Data: t.TempDir(), IdleExpiry: time.Hour, Tokens: []api.Token{token(t, "alice", api.Play), token(t, "bob", api.Play)}}
	f := serve(t, config)
	start := func(who string) string {
		return f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/3"}`, bearer(who)).header.Get("Location")
	}
	over := start("alice")
	f.ask("POST", over+"/calls", addOne, bearer("alice"))
	start("bob")
	f.wait(time.Hour)
	f = f.again(t, config)
	start("alice")
	got := f.ask("GET", "/v1/episodes/export.ndjson", "", bearer("alice"))
	lines := strings.Split(strings.TrimSpace(got.body), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"live":false`) || !strings.Contains(lines[0], `"sum":1`) || !strings.Contains(lines[1], `"live":true`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestRetentionIsBounded begins many episodes that expire; the database keeps
// the latest.
func TestRetentionIsBounded(t *testing.T) {
	data := t.TempDir()
	f := serve(t, api.Config{Data: data, IdleExpiry: time.Second, MaxKept: 10, MaxEpisodes: 64})
	first := f.begin("tally/0/1")
	for range 255 {
		f.begin("tally/0/1")
		f.wait(time.Second)
	}
	if n := count(t, data, `SELECT count(*) FROM episodes WHERE over IS NOT NULL`); n != 10 {
		t.Errorf("%d episodes are kept, want 10", n)
	}
	if got := f.ask("GET", first, ""); got.status != http.StatusGone && got.status != http.StatusNotFound {
		t.Errorf("the first: %d", got.status)
	}
}

func count(t *testing.T, data, query string) (n int) {
	t.Helper()
	if err := onDatabase(t, data).QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func onDatabase(t *testing.T, data string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, "toolgym.db")}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestNothingIsAnsweredThatIsNotKept makes the database fail, before it has
// written and after: the client hears that it may try again, and the same
// request then counts once.
func TestNothingIsAnsweredThatIsNotKept(t *testing.T) {
	data := t.TempDir()
	f := serve(t, api.Config{Data: data})
	episode := f.begin("tally/endless/3")
	f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`)
	db := onDatabase(t, data)
	if _, err := db.Exec(`CREATE TRIGGER failing BEFORE INSERT ON steps BEGIN SELECT RAISE(ABORT, 'the secret disk'); END`); err != nil {
		t.Fatal(err)
	}
	got := f.ask("POST", episode+"/calls", addOne)
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret") {
		t.Errorf("while it fails: %d %s", got.status, got.body)
	}
	if !strings.Contains(f.logged(), "the secret disk") {
		t.Error("the log does not say why")
	}
	if got := f.ask("GET", episode, ""); !strings.Contains(got.body, `"step":1,`) {
		t.Errorf("the step counts: %s", got.body)
	}
	// What was written and not answered is what the ledger says.
	if _, err := db.Exec(`DROP TRIGGER failing`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO steps SELECT episode, 2, 'one', made, name, arguments, message, CAST('{"sum":2}' AS BLOB), is_error, reward, ending FROM steps`); err != nil {
		t.Fatal(err)
	}
	if got := f.ask("POST", episode+"/calls", addOne); !strings.Contains(got.body, `"sum":2`) || !strings.Contains(got.body, `"step":2`) {
		t.Errorf("the same request afterwards: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`); !strings.Contains(got.body, `"sum":3`) {
		t.Errorf("the next: %d %s", got.status, got.body)
	}
}

// TestAnEnvironmentThatChanged cannot bring its old episodes back; the others
// are.
func TestAnEnvironmentThatChanged(t *testing.T) {
	data := t.TempDir()
	f := serve(t, api.Config{Data: data})
	broken, whole := f.begin("tally/0/3"), f.begin("tally/0/4")
	f.ask("POST", broken+"/calls", addOne)
	if _, err := onDatabase(t, data).Exec(`UPDATE steps SET content = CAST('{"sum":5}' AS BLOB)`); err != nil {
		t.Fatal(err)
	}
	f = f.again(t, api.Config{Data: data})
	if got := f.ask("GET", broken, ""); got.status != http.StatusGone {
		t.Errorf("the broken one: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", whole, ""); got.status != http.StatusOK {
		t.Errorf("the other: %d %s", got.status, got.body)
	}
	if !strings.Contains(f.logged(), "gave another step than before") {
		t.Errorf("the log says %s", f.logged())
	}
}

func TestOneServerForOneDatabase(t *testing.T) {
	data := t.TempDir()
	serve(t, api.Config{Data: data})
	_, err := api.New(api.Config{Specs: tools.Specs{tallySpec(nil)}, Data: data})
	if err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("%v", err)
	}
}

// TestManyEpisodesComeBack fills a server to its limit.
func TestManyEpisodesComeBack(t *testing.T) {
	config := api.Config{Data: t.TempDir(), MaxEpisodes: 50}
	f := serve(t, config)
	var paths []string
	for n := range 50 {
		path := f.begin(fmt.Sprintf("tally/endless/%d", n))
		paths = append(paths, path)
		for range n % 7 {
			f.ask("POST", path+"/calls", `{"name":"add","arguments":{"n":1}}`)
		}
	}
	f = f.again(t, config)
	for n, path := range paths {
		if got := f.ask("GET", path, ""); !strings.Contains(got.body, fmt.Sprintf(`"step":%d,`, n%7)) {
			t.Errorf("%s: %d %.200s", path, got.status, got.body)
		}
	}
}

// TestAPanicWhileEpisodesComeBack restarts a server whose environment panics when
// one episode is replayed: the others come back, and the log has the episode.
func TestAPanicWhileEpisodesComeBack(t *testing.T) {
	config := api.Config{Data: t.TempDir(), IdleExpiry: time.Hour, Specs: tools.Specs{arithmetic.Spec()}}
	f := serve(t, config)
	broken, intact := f.begin("arithmetic/0/7"), f.begin("arithmetic/0/8")
	for _, path := range []string{broken, intact} {
		f.ask("POST", path+"/calls", `{"name":"add","arguments":{"a":1,"b":2}}`)
	}
	before := f.ask("GET", intact, "").body
	config.Specs = tools.Specs{testkit.WithPanic(arithmetic.Spec(), 7, true)}
	f = f.again(t, config)
	if got := f.ask("GET", intact, ""); got.body != before {
		t.Errorf("the other episode was\n%s is\n%s", before, got.body)
	}
	if got := f.ask("GET", broken, ""); got.status == http.StatusOK || strings.Contains(got.body, testkit.PanicValue) {
		t.Errorf("the episode that cannot be replayed: %d %s", got.status, got.body)
	}
	if log := f.logged(); !strings.Contains(log, "episode="+strings.TrimPrefix(broken, "/v1/episodes/")) || !strings.Contains(log, testkit.PanicValue) {
		t.Errorf("the log: %s", log)
	}
}
