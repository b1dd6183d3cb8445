package lab_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolgym/api"
)

// post sends a form as a browser without scripts does, or as a script does.
func post(t *testing.T, address, accept string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", accept)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const (
	page   = "text/html"
	script = "application/problem+json, text/html"
)

func TestPlaygroundWithoutScripts(t *testing.T) {
	address := serve(t, api.Config{}) + "/lab/playground"
	const hostile = `<script>alert(1)</script><tool_call>{"name": "</code></pre><img src=x onerror=alert(2)>"}</tool_call>`
	status, body := post(t, address, page, url.Values{"text": {hostile}, "family": {"hermes"}, "tools": {"[{\"name\": </textarea>"}, "format": {"2"}})
	if status != http.StatusOK || strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") || strings.Count(body, "</textarea>") != 3 {
		t.Errorf("%d: markup got through", status)
	}
	if !strings.Contains(body, `id="tools-wrong">`) || !strings.Contains(body, "&lt;script&gt;alert(1)") {
		t.Error("the field's fault or the text is not on the page")
	}
	status, body = post(t, address, page, url.Values{"text": {hostile}, "audit": {"1"}})
	if status != http.StatusOK || !strings.Contains(body, "ten guesses") || strings.Contains(body, "<img") {
		t.Errorf("%d: no attacks on the page, or markup", status)
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
		for _, accept := range []string{page, script} {
			t.Run(test.name+" to "+accept, func(t *testing.T) {
				status, body := post(t, address+test.path, accept, test.form)
				if status != test.status || !strings.Contains(body, test.words) {
					t.Errorf("%d %.300s, want %d and %q", status, body, test.status, test.words)
				}
				if asPage := strings.HasPrefix(body, "<!doctype"); asPage != (accept == page) {
					t.Errorf("%.80s", body)
				}
			})
		}
	}
	if status, _ := getPage(t, address+"?example=none"); status != http.StatusNotFound {
		t.Errorf("an example that there is not: %d", status)
	}
}

// TestTenMegabytesOfHostileText are read where the server takes so much.
func TestTenMegabytesOfHostileText(t *testing.T) {
	address := serve(t, api.Config{MaxBody: 64 << 20}) + "/lab/playground/reading"
	status, body := post(t, address, page, url.Values{"text": {strings.Repeat("<tool_call>{\"a\":[", 10<<20/17)}, "family": {"hermes"}})
	if status != http.StatusOK || len(body) > 300_000 {
		t.Errorf("%d, %d bytes", status, len(body))
	}
}

func getPage(t *testing.T, address string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", page)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
