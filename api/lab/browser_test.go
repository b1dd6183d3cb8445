package lab_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"toolgym/api"
	"toolgym/internal/parts"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// patience is how long a page may take until it shows what it must. It is there
// for tests that fail, and long, since nothing here is about speed.
const patience = time.Minute

// A browser is a tab of a real browser on a real server of its own.
type browser struct {
	t     *testing.T
	ctx   context.Context //nolint:containedctx // chromedp has the tab in it
	url   string
	wrong *faults
}

// faults are errors of the console, and requests that leave the server.
type faults struct {
	mu       sync.Mutex
	texts    []string
	expected string
}

// expect names a part of the one complaint that the test is about.
func (f *faults) expect(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected = text
}

func (f *faults) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.expected == "" || !strings.Contains(text, f.expected) {
		f.texts = append(f.texts, text)
	}
}

func (f *faults) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.texts)
}

// serve starts a server of the usual environments.
func serve(t *testing.T, config api.Config) string {
	t.Helper()
	config.Specs = tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()}
	config.Logger = slog.New(slog.DiscardHandler)
	server, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		listening.Close()
	})
	return listening.URL
}

// open starts a server and a browser beside it.
func open(t *testing.T, config api.Config) *browser {
	t.Helper()
	parts.Need(t, parts.Chromium)
	return openAt(t, serve(t, config))
}

// openAt starts a browser beside a server.
func openAt(t *testing.T, url string) *browser {
	t.Helper()
	program := parts.Need(t, parts.Chromium)
	b := &browser{t: t, url: url, wrong: &faults{}}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, end := chromedp.NewContext(allocated)
	b.ctx = ctx
	t.Cleanup(func() {
		end()
		stop()
		for _, text := range b.wrong.list() {
			t.Error(text)
		}
	})
	if err := chromedp.Listen(ctx, b.heard); err != nil { // starts the browser, which lives as long as the context
		t.Fatal(err)
	}
	console := chromedp.Console(ctx)
	go func() {
		for message, err := range console {
			if err != nil {
				return
			}
			if message.IsException() || message.Type == "error" || message.Type == "warning" {
				b.wrong.note("console: " + message.Text)
			}
		}
	}()
	return b
}

// heard watches what the page asks for.
func (b *browser) heard(event any) {
	if e, ok := event.(*network.EventRequestWillBeSent); ok {
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && !strings.HasPrefix(e.Request.URL, b.url+"/") && e.Request.URL != "about:blank" {
			b.wrong.note("a request leaves the server: " + e.Request.URL)
		}
	}
}

// do carries actions out; one that takes too long fails the test.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates JavaScript in the page.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	value, err := try[T](b, script)
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

func try[T any](b *browser, script string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// until waits for a condition in JavaScript. That it cannot be evaluated while
// a page goes and another comes is no failure.
func (b *browser) until(condition string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		holds, err := try[bool](b, "!!("+condition+")")
		if holds {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the page never came to %s (%v); it shows:\n%s", condition, err, eval[string](b, "document.body.innerText"))
		}
	}
}

// visit opens a page and waits until its script has run.
func (b *browser) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
	b.until(`document.documentElement.dataset.ready === "true"`)
}

// size sets the window and what the system prefers: light or dark.
func (b *browser) size(width, height int64, theme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

// click clicks what a selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(selector, chromedp.NodeVisible))
}

// set moves a control as a person does: its value, and the event that tells.
func (b *browser) set(selector, value string) {
	b.t.Helper()
	eval[bool](b, `(() => { const c = document.querySelector(`+quoted(selector)+`); c.value = `+quoted(value)+`;
		c.dispatchEvent(new Event("input", {bubbles: true})); c.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
}

// text is what an element says.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return eval[string](b, `document.querySelector(`+quoted(selector)+`).innerText`)
}

// shoot keeps a picture of the whole page, where TOOLGYM_ARTEFACTS names a
// folder for people to look at.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("TOOLGYM_ARTEFACTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
