package lab_test

import (
	"context"
	"html"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestStepsKeepThePlace: what stands below an episode stays where it is while
// somebody goes through it.
func TestStepsKeepThePlace(t *testing.T) {
	b := open(t, api.Config{})
	b.size(1280, 900, "light")
	for _, query := range []string{"level=0", "env=gridworld&level=0&before=random"} {
		b.visit("/?" + query)
		height := eval[float64](b, "document.documentElement.scrollHeight")
		for _, to := range []string{"first", "next", "next", "last"} {
			b.click(`[data-go="` + to + `"]`)
			if got := eval[float64](b, "document.documentElement.scrollHeight"); got != height {
				t.Errorf("%s: at %s the page is %v px high, and was %v", query, b.text(".at"), got, height)
			}
		}
	}
}

// TestDraftComesBack to whoever looked at another page meanwhile.
func TestDraftComesBack(t *testing.T) {
	b := ground(t, "near")
	b.set("#text", "Nothing but prose.")
	b.set("#schema", "2.25")
	b.until(`document.querySelector("#marked").textContent.includes("Nothing but prose.")`)
	b.click(`nav a[href="/lab/script"]`)
	b.until(`document.querySelector("#python")`)
	b.do(chromedp.NavigateBack())
	b.until(`document.querySelector("#text")?.value === "Nothing but prose." && document.querySelector("#marked").textContent.includes("Nothing but prose.")`)
	if got := b.text("#schema-value"); got != "+2.25" {
		t.Errorf("the weight is %s", got)
	}
	b.click(`[data-specimen="right"]`)
	b.until(`document.querySelector("#text")?.value.includes("get_forecast")`)
}

// TestLinksLead somewhere: every link of every page, those of the examples with
// the weights that are set.
func TestLinksLead(t *testing.T) {
	url := serve(t, api.Config{})
	seen := map[string]bool{}
	for _, page := range []string{"/", "/lab/training", "/lab/playground", "/lab/playground?example=right&schema=2.25", "/lab/evaluations", "/lab/script"} {
		for _, link := range regexp.MustCompile(` href="(/[^"#]*)"`).FindAllStringSubmatch(load(t, url+page, asPage), -1) {
			address := html.UnescapeString(link[1])
			if seen[address] {
				continue
			}
			seen[address] = true
			text := load(t, url+address, asPage)
			if strings.Contains(address, "example=") && strings.Contains(address, "schema=2.25") != strings.Contains(text, `value="2.25"`) {
				t.Errorf("%s loses the weights", address)
			}
		}
	}
}

// TestHiddenCharactersAreSeen where they turn a text around.
func TestHiddenCharactersAreSeen(t *testing.T) {
	b := ground(t, "near")
	b.set("#text", "a\u202eb\u200bc\u0007d 👩\u200d👧")
	b.until(`document.querySelector("#marked").textContent.trim() === "a⟨U+202E⟩b⟨U+200B⟩c␇d 👩\u200d👧"`)
}

// TestServerGoesAndComes: the page says that nobody answers, and goes on by
// itself when the server is back, with the run that it watched.
func TestServerGoesAndComes(t *testing.T) {
	config := api.Config{Specs: tools.Specs{arithmetic.Spec()}, Logger: slog.New(slog.DiscardHandler), Data: t.TempDir()}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := serveOn(t, listener, config)
	b := openAt(t, "http://"+listener.Addr().String())
	b.wrong.expect("ERR_CONNECTION_REFUSED")
	b.visit("/lab/training")
	b.set("#updates", "1000000")
	b.click("#go")
	b.until(`/^[1-9]/.test(document.querySelector("#last-title [data-iteration]")?.textContent)`)
	stop()
	b.until(`document.querySelector("#status").textContent.includes("goes on when the server is back")`)
	b.click(`[data-do="stop"]`)
	b.until(`document.querySelector("#status").textContent === "The server does not answer."`)
	again, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(serveOn(t, again, config))
	b.until(`document.querySelector(".runlist .badge").textContent === "paused" && document.querySelector("#status").textContent === ""`)
	b.click(`[data-do="resume"]`)
	b.until(`document.querySelector(".runlist .badge").textContent === "running"`)
}

// serveOn starts a server behind a listener, and returns what ends both.
func serveOn(t *testing.T, listener net.Listener, config api.Config) (stop func()) {
	t.Helper()
	server, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listening := &httptest.Server{Listener: listener, Config: &http.Server{Handler: server}} //nolint:gosec // a test's own, without slow clients
	listening.Start()
	return func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		listening.Close()
	}
}

// TestRefusedFormLeavesNothingStanding as if it were the answer.
func TestRefusedFormLeavesNothingStanding(t *testing.T) {
	b := open(t, api.Config{})
	b.wrong.expect("422")
	b.visit("/")
	stale := `document.querySelector("#shown").classList.contains("stale")`
	if eval[bool](b, stale) {
		t.Error("the page begins with what is not its own")
	}
	b.set("#seed", "-3")
	b.until(stale + ` && document.querySelector("#status").textContent.includes("expected a whole number")`)
	b.set("#seed", "4")
	b.until(`!` + stale + ` && document.querySelector(".task").textContent === "arithmetic/0/4" && !document.querySelector("#status").textContent`)
}
