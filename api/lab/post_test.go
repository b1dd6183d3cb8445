package lab_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolgym/api"
)

func TestPlaygroundWithoutScripts(t *testing.T) {
	address := serve(t, api.Config{}) + "/lab/playground"
	const hostile = `<script>alert(1)</script><tool_call>{"name": "</code></pre><img src=x onerror=alert(2)>"}</tool_call>`
	got := post(t, address, url.Values{"text": {hostile}, "family": {"hermes"}, "tools": {"[{\"name\": </textarea>"}, "format": {"2"}}, asPage)
	if got.status != http.StatusOK || strings.Contains(got.text, "<script>alert") || strings.Contains(got.text, "<img") || strings.Count(got.text, "</textarea>") != 3 {
		t.Errorf("%d: markup got through", got.status)
	}
	if !strings.Contains(got.text, `id="tools-wrong">`) || !strings.Contains(got.text, "&lt;script&gt;alert(1)") {
		t.Error("the field's fault or the text is not on the page")
	}
	got = post(t, address, url.Values{"text": {hostile}, "audit": {"1"}}, asPage)
	if got.status != http.StatusOK || !strings.Contains(got.text, "ten guesses") || strings.Contains(got.text, "<img") {
		t.Errorf("%d: no attacks on the page, or markup", got.status)
	}
}

func TestPlaygroundRefusals(t *testing.T) {
	address := serve(t, api.Config{MaxBody: 4096}) + "/lab/playground"
	tests := []struct {
		name, path string
		form       url.Values
		status     int
		words      string
	}{
		{"too much", "", url.Values{"text": {strings.Repeat("x", 10<<20)}}, http.StatusRequestEntityTooLarge, "over 4 KiB"},
		{"too much for a part", "/reading", url.Values{"text": {strings.Repeat("x", 5000)}}, http.StatusRequestEntityTooLarge, "over 4 KiB"},
		{"an unknown field", "/reading", url.Values{"colour": {"red"}}, http.StatusUnprocessableEntity, "no setting"},
		{"a weight out of range", "/reading", url.Values{"format": {"1e9"}}, http.StatusUnprocessableEntity, "-5 to 5"},
		{"a weight that is none", "/audit", url.Values{"format": {"much"}}, http.StatusUnprocessableEntity, "-5 to 5"},
	}
	for _, test := range tests {
		for _, accept := range []string{asPage, asScript} {
			t.Run(test.name+" to "+accept, func(t *testing.T) {
				got := post(t, address+test.path, test.form, accept)
				if got.status != test.status || !strings.Contains(got.text, test.words) {
					t.Errorf("%d %.300s, want %d and %q", got.status, got.text, test.status, test.words)
				}
				if page := strings.HasPrefix(got.text, "<!doctype"); page != (accept == asPage) {
					t.Errorf("%.80s", got.text)
				}
			})
		}
	}
	if got := ask(t, http.MethodGet, address+"?example=none", "", asPage); got.status != http.StatusNotFound {
		t.Errorf("an example that there is not: %d", got.status)
	}
}

// TestTenMegabytesOfHostileText are read where the server takes so much.
func TestTenMegabytesOfHostileText(t *testing.T) {
	address := serve(t, api.Config{MaxBody: 64 << 20}) + "/lab/playground/reading"
	got := post(t, address, url.Values{"text": {strings.Repeat("<tool_call>{\"a\":[", 10<<20/17)}, "family": {"hermes"}}, asPage)
	if got.status != http.StatusOK || len(got.text) > 300_000 {
		t.Errorf("%d, %d bytes", got.status, len(got.text))
	}
}
