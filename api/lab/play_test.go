package lab_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"toolgym/api"
	"toolgym/internal/ollamatest"
)

// visitor sends requests as somebody.
type visitor struct {
	t             *testing.T
	server, token string
}

// ask sends a request and returns what came back, redirects followed.
func (v visitor) ask(method, path string, form url.Values) (status int, text string) {
	v.t.Helper()
	headers := []string{asPage, sendsForm}
	if v.token != "" {
		headers = append(headers, bearer(v.token))
	}
	got := ask(v.t, method, v.server+path, form.Encode(), headers...)
	return got.status, got.text
}

// sees asks for a page and holds it to some of its words.
func (v visitor) sees(path string, words ...string) string {
	v.t.Helper()
	status, text := v.ask(http.MethodGet, path, nil)
	if status != http.StatusOK {
		v.t.Fatalf("%s: %d %s", path, status, text)
	}
	for _, word := range words {
		if !strings.Contains(html.UnescapeString(text), word) {
			v.t.Errorf("%s lacks %q", path, word)
		}
	}
	return text
}

// counted puts a proxy before a server, which counts the chats.
func counted(t *testing.T, address string) (proxied string, chats *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	chats = &atomic.Int64{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.In.URL.Path == "/api/chat" {
			chats.Add(1)
		}
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL, chats
}

// TestModelPlaysInAColumn lets a real model play, and holds the sliders to
// scoring again what it said without asking it again.
func TestModelPlaysInAColumn(t *testing.T) {
	ollama, chats := counted(t, ollamatest.Start(t).URL)
	v := visitor{t: t, server: serve(t, api.Config{Ollama: []string{ollama}})}
	model := "ollama:" + ollamatest.Tools + ":latest"
	address := "/?level=0&seed=3&group=2&after=trained&before=" + url.QueryEscape(model)
	v.sees(address, "It has not played this task yet.", `value="`+model+`"`, "A group needs at least two")
	form := url.Values{"env": {"arithmetic"}, "level": {"0"}, "seed": {"3"}, "group": {"2"}, "before": {model}, "after": {"trained"}, "play": {"before"}}
	if status, text := v.ask(http.MethodPost, "/lab/play", form); status != http.StatusOK || !strings.Contains(text, "executed") || !strings.Contains(text, "Play again") {
		t.Fatalf("%d %s", status, text)
	}
	asked := chats.Load()
	if asked == 0 {
		t.Error("the model was not asked")
	}
	v.sees(address+"&length=0.5&completion=1", "C:+1.0", `<span class="badge good">solved`)
	if chats.Load() != asked {
		t.Error("a slider asks the model again")
	}
	form.Set("play", "group")
	form.Set("script", "yes")
	if status, text := v.ask(http.MethodPost, "/lab/play", form); status != http.StatusNoContent || text != "" {
		t.Fatalf("%d %s", status, text)
	}
	v.sees(address, "2 tries of the left column", "tells no log-probabilities")
}

func TestModelWhoseServerIsGone(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		servers []string
		want    string
	}{
		"no server is connected": {nil, "No Ollama server is connected"},
		"it does not answer":     {[]string{gone.URL}, "does not answer"},
		"it has no such model":   {[]string{ollamatest.Parrot{Model: "other"}.Serve(t)}, "have no model of this name"},
	} {
		t.Run(name, func(t *testing.T) {
			v := visitor{t: t, server: serve(t, api.Config{Ollama: c.servers})}
			v.sees("/?after=ollama:mute", c.want, "There is no episode to show")
			if status, text := v.ask(http.MethodPost, "/lab/play", url.Values{"after": {"ollama:mute"}, "play": {"after"}}); status != http.StatusServiceUnavailable || !strings.Contains(text, c.want) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

func TestPlayRefuses(t *testing.T) {
	v := visitor{t: t, server: serve(t, api.Config{Ollama: []string{ollamatest.Parrot{Model: "says", Says: "hello"}.Serve(t)}})}
	for name, c := range map[string]struct {
		form   url.Values
		status int
	}{
		"nobody to play for":    {url.Values{"play": {"audience"}}, http.StatusUnprocessableEntity},
		"a policy":              {url.Values{"play": {"after"}, "after": {"trained"}}, http.StatusUnprocessableEntity},
		"an unknown setting":    {url.Values{"play": {"after"}, "colour": {"red"}}, http.StatusUnprocessableEntity},
		"a form that is a book": {url.Values{"play": {strings.Repeat("x", 20_000)}}, http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			if status, text := v.ask(http.MethodPost, "/lab/play", c.form); status != c.status {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	for query, status := range map[string]int{"?after=nobody": 422, "?before=base:x": 422, "?after=ollama:": 422, "?after=run:x": 404, "?env=research&before=run:x": 404} {
		if got, text := v.ask(http.MethodGet, "/"+query, nil); got != status {
			t.Errorf("%s: %d %s", query, got, text)
		}
	}
}

// TestRunsAreTheirOwners: other people's runs cannot be chosen, and their last
// update is not shown.
func TestRunsAreTheirOwners(t *testing.T) {
	annSecret, ann, err := api.Issue("ann", api.Score, api.Train)
	if err != nil {
		t.Fatal(err)
	}
	bobSecret, bob, err := api.Issue("bob", api.Score, api.Train)
	if err != nil {
		t.Fatal(err)
	}
	server := serve(t, api.Config{Tokens: []api.Token{ann, bob}})
	hers, his := visitor{t, server, annSecret}, visitor{t, server, bobSecret}
	id := trainedRun(t, server, bearer(annSecret))
	path := "/?level=1&before=base&after=run:" + id
	text := hers.sees(path, "Run "+id[:8], "Last update", "KL to its start")
	if strings.Contains(text, "No training of yours") {
		t.Error("the run's last update is not shown")
	}
	if status, text := his.ask(http.MethodGet, path, nil); status != http.StatusNotFound || strings.Contains(text, "arithmetic") {
		t.Errorf("another's run: %d %s", status, text)
	}
	if text := his.sees("/", "No training of yours"); strings.Contains(text, id) {
		t.Error("another's run is offered")
	}
	if status, _ := (visitor{t, server, ""}).ask(http.MethodGet, "/lab/rollout", nil); status != http.StatusOK {
		t.Errorf("without a token: %d", status) // the page that asks for one, after a redirect
	}
}
