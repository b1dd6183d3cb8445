package api_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// TestPagesTakeHostileParameters asks for the pages of the lab with parameters
// that seeds draw, by the names that the pages themselves have. No page fails,
// panics, takes for ever, or has text of a parameter as markup.
func TestPagesTakeHostileParameters(t *testing.T) {
	requests := 3000
	if testing.Short() {
		requests = 600
	}
	records := &faultLog{}
	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec(), gridworld.Spec()}, Data: t.TempDir(), Logger: slog.New(records)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	pages := pageRoutes(server)
	names := parameterNames(server, pages)
	t.Logf("%d pages, parameters %v", len(pages), names)
	if len(pages) < 8 || len(names) < 8 {
		t.Fatalf("too little is found: %v %v", pages, names)
	}
	g := &generator{Rand: rand.New(rand.NewPCG(7, 7)), words: &vocabulary{words: map[string][]string{}}}
	seen := map[int]int{}
	for range requests {
		target := pages[g.IntN(len(pages))] + "?" + hostileQuery(g, names)
		if g.chance(4) {
			target = strings.ReplaceAll(target, ":", url.PathEscape(g.text("")))
		}
		got := read(t, server, target)
		seen[got.status]++
		if got.status >= 500 && got.header.Get("Retry-After") == "" {
			t.Errorf("%.600s: %d %.300s", target, got.status, got.body)
		}
		if strings.Contains(got.body, hostileMarkup) && strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
			t.Errorf("%.600s: a parameter has become markup", target)
		}
		for _, fault := range records.take() {
			t.Fatalf("%.600s logs %s", target, fault)
		}
	}
	t.Logf("answers by status: %v", seen)
	if seen[http.StatusOK] < requests/10 {
		t.Errorf("hardly a page is shown: %v", seen)
	}
}

// hostileMarkup is what no page may have as it was sent.
const hostileMarkup = `<script>alert(1)</script>`

// pageRoutes are the paths that answer GET with something for people to read.
func pageRoutes(server *api.Server) (paths []string) {
	for _, route := range api.Routes(server) {
		path, ok := strings.CutPrefix(route, "GET ")
		if ok && !strings.HasPrefix(path, "/v1/") && path != "/metrics" && path != "/mcp" {
			paths = append(paths, path)
		}
	}
	return paths
}

// parameterNames are the names in the forms and links of the pages.
func parameterNames(server *api.Server, pages []string) []string {
	found := []string{"seed", "level", "env", "id", "run", "cursor", "n"}
	for _, page := range pages {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+strings.ReplaceAll(page, ":", ""), nil)
		ctx, cancel := context.WithTimeout(r.Context(), time.Second) // a stream of events does not end
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r.WithContext(ctx))
		cancel()
		for _, name := range regexp.MustCompile(`name="([\w.-]+)"|[?&;]([\w.-]+)=`).FindAllStringSubmatch(w.Body.String(), -1) {
			found = append(found, name[1]+name[2])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// hostileQuery draws a query: plausible values, strange ones, broken ones.
func hostileQuery(g *generator, names []string) string {
	var parts []string
	for range g.IntN(6) {
		value := pick(g, "0", "1", "2", "17", "-1", "0.5", "1e308", "1e-320", "NaN", "Inf", "18446744073709551615", "18446744073709551616", "arithmetic", "gridworld", "spoken",
			"sound", "documented", "on", "hermes", hostileMarkup, "\"><svg onload=x>", strings.Repeat("9", 400), strings.Repeat("(", 5000), g.text(""))
		parts = append(parts, url.QueryEscape(names[g.IntN(len(names))])+"="+url.QueryEscape(value))
	}
	if g.chance(12) {
		parts = append(parts, pick(g, "%zz", "a;b", "=", "%00", "seed=1&seed=2", strings.Repeat("x&", 1000)))
	}
	return strings.Join(parts, "&")
}

// read asks for a page, in process and within a time.
func read(t *testing.T, server *api.Server, target string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	path, query, _ := strings.Cut(target, "?")
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	r.URL = &url.URL{Path: plain, RawPath: path, RawQuery: query}
	r.Header.Set("Accept", "text/html")
	if strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/watch") {
		var soon context.CancelFunc
		ctx, soon = context.WithTimeout(ctx, 50*time.Millisecond)
		defer soon()
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r.WithContext(ctx))
	if ctx.Err() == context.DeadlineExceeded && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		t.Errorf("%.600s: not answered in time", target)
	}
	return answer{w.Code, w.Header(), w.Body.String()}
}
