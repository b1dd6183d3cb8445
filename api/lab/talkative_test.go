package lab_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/internal/ollamatest"
)

// TestFrontSaysWhyNoModelIsThere, beside the agents that can be chosen.
func TestFrontSaysWhyNoModelIsThere(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		servers []string
		want    string
	}{
		"no server":       {nil, "of a server that is started with --ollama"},
		"a silent one":    {[]string{gone.URL}, "No answer from " + gone.URL},
		"one that speaks": {[]string{ollamatest.Parrot{Model: "polly"}.Serve(t)}, `value="ollama:polly"`},
	} {
		t.Run(name, func(t *testing.T) {
			visitor{t: t, server: serve(t, api.Config{Ollama: c.servers})}.sees("/", c.want)
		})
	}
}

// TestModelsMayTalk as long as they like: the page stays a page, and all is
// scored.
func TestModelsMayTalk(t *testing.T) {
	call := `<tool_call>` + "\n" + `{"name": "add", "arguments": {"a": 1, "b": 2}}` + "\n" + `</tool_call>` + "\n"
	for name, c := range map[string]struct {
		parrot ollamatest.Parrot
		want   string
	}{
		"prose":   {ollamatest.Parrot{Says: strings.Repeat("<b>so</b> ", 100_000)}, "<b>so</b> <b>so</b>"},
		"thought": {ollamatest.Parrot{Thinks: strings.Repeat("tick, tock, ", 50_000), Says: "Hm."}, "tick, tock, tick, "},
		"calls":   {ollamatest.Parrot{Says: strings.Repeat(call, 5_000)}, "more calls, which are scored like the others"},
	} {
		t.Run(name, func(t *testing.T) {
			c.parrot.Model = "polly"
			v := visitor{t: t, server: serve(t, api.Config{Ollama: []string{c.parrot.Serve(t)}})}
			form := url.Values{"before": {"ollama:polly"}, "after": {"ollama:polly"}, "play": {"before"}}
			if status, text := v.ask(http.MethodPost, "/lab/play", form); status != http.StatusOK {
				t.Fatalf("%d %s", status, text)
			}
			page := v.sees("/?before=ollama:polly&after=ollama:polly", c.want)
			if len(page) > 200_000 {
				t.Errorf("the page alone has %d bytes", len(page))
			}
			if strings.Contains(page, "<b>so") {
				t.Error("what the model wrote is markup")
			}
		})
	}
}
