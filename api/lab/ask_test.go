package lab_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The headers of those who ask.
const (
	asPage    = "Accept: text/html"                           // a browser without scripts
	asScript  = "Accept: application/problem+json, text/html" // a page's script
	sendsForm = "Content-Type: application/x-www-form-urlencoded"
	sendsJSON = "Content-Type: application/json"
)

// bearer is the header of a token's owner.
func bearer(token string) string { return "Authorization: Bearer " + token }

// An answer is what came back, read to its end.
type answer struct {
	status int
	header http.Header
	text   string
}

// ask sends a request with headers, "Name: value" each, and goes where it is
// led.
func ask(t *testing.T, method, address, body string, headers ...string) answer {
	t.Helper()
	status, header, rest := send(t.Context(), t, method, address, body, headers...)
	text, err := io.ReadAll(rest)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status, header, string(text)}
}

// send is ask for an answer that is still to be read, and is closed when the test
// ends.
func send(ctx context.Context, t *testing.T, method, address, body string, headers ...string) (status int, header http.Header, rest io.Reader) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.StatusCode, response.Header, response.Body
}

// post sends a form.
func post(t *testing.T, address string, form url.Values, headers ...string) answer {
	t.Helper()
	return ask(t, http.MethodPost, address, form.Encode(), append(headers, sendsForm)...)
}

// load fetches a page or a file as text.
func load(t *testing.T, address string, headers ...string) string {
	t.Helper()
	got := ask(t, http.MethodGet, address, "", headers...)
	if got.status != http.StatusOK {
		t.Fatalf("%s: %d\n%s", address, got.status, got.text)
	}
	return got.text
}
