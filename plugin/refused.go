package plugin

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"sync"

	toolgym "toolgym/api/client"
)

// refusals keep what a toolgym server said when it refused a request. The MCP
// SDK tells only the status in words.
type refusals struct {
	next http.RoundTripper

	mu   sync.Mutex
	last error
}

// listening is the client with its refusals kept; nil means http.DefaultClient.
func listening(client *http.Client) (*http.Client, *refusals) {
	if client == nil {
		client = http.DefaultClient
	}
	heard, kept := *client, &refusals{next: client.Transport}
	if kept.next == nil {
		kept.next = http.DefaultTransport
	}
	heard.Transport = kept
	return &heard, kept
}

// RoundTrip hands the answer on as it came.
func (r *refusals) RoundTrip(request *http.Request) (*http.Response, error) {
	const longest = 64 << 10
	answer, err := r.next.RoundTrip(request)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media != "application/problem+json" {
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	var problem toolgym.Problem
	if err == nil && json.Unmarshal(text, &problem) == nil {
		r.mu.Lock()
		r.last = problem.Err()
		r.mu.Unlock()
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), answer.Body), answer.Body}
	return answer, nil
}

// reason is the last refusal; nil when there was none.
func (r *refusals) reason() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// CloseIdleConnections lets a client do that to the transport behind.
func (r *refusals) CloseIdleConnections() {
	if idle, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}
