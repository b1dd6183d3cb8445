package plugin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"toolgym/plugin"
)

// A reply is read up to its limit, in one line or in many, and of an error too.
func TestModelBoundsAReply(t *testing.T) {
	piece := `{"message":{"content":"` + strings.Repeat("x", 64<<10) + `"},"done":false}`
	many := make([]string, 80)
	for i := range many {
		many[i] = piece
	}
	for name, test := range map[string]struct {
		status int
		lines  []string
		want   string
	}{
		"one line":   {200, []string{`{"message":{"content":"` + strings.Repeat("x", 5<<20) + `"},"done":true}`}, "the reply is too long: over 4194304 bytes"},
		"many lines": {200, many, "the reply is too long: over 4194304 bytes"},
		"an error":   {500, []string{strings.Repeat("x", 5<<20)}, "500 Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			model, _ := replay(t, test.status, test.lines...)
			_, err := model.GenerateContent(context.Background(), human("go"))
			if !llms.IsProviderUnavailableError(err) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 8<<10 {
				t.Errorf("got %.200v, want …%s…", err, test.want)
			}
		})
	}
}

func TestModelFollowsNoRedirect(t *testing.T) {
	noLeak(t)
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	model, err := plugin.NewModel(plugin.ModelConfig{URL: strings.Replace(server.URL, "//", "//user:secret@", 1), Name: "m", HTTP: client(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = model.GenerateContent(context.Background(), human("go"))
	if asked > 0 || !llms.IsProviderUnavailableError(err) || !strings.Contains(err.Error(), "redirects to "+other.URL) || strings.Contains(err.Error(), "secret") {
		t.Errorf("asked %d times, error %v", asked, err)
	}
	server.Close()
	if _, err = model.GenerateContent(context.Background(), human("go")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("of a server that is gone: %v", err)
	}
	if _, err := plugin.NewModel(plugin.ModelConfig{Name: "m", MaxReply: -1}); err == nil {
		t.Errorf("a negative limit: %v", err)
	}
}
