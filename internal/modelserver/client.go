package modelserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// MaxReply is the default limit of one reply, in bytes.
const MaxReply = 4 << 20

// maxHeaders bounds the headers of a reply, in bytes.
const maxHeaders = 256 << 10

// ErrTooLong says that a reply is longer than its limit.
var ErrTooLong = errors.New("the reply is too long")

// A RedirectError is a reply that redirects to another address.
type RedirectError struct {
	Status   int
	Location string // without credentials
}

// Error names the address that was not asked.
func (e *RedirectError) Error() string {
	if e.Location == "" {
		return fmt.Sprintf("the server answers with a redirect (HTTP %d), which is not followed", e.Status)
	}
	return fmt.Sprintf("the server redirects to %s (HTTP %d), which is not followed", e.Location, e.Status)
}

// shared is the transport of clients that bring none.
var shared = sync.OnceValue(func() *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeaders,
	}
})

// New returns a copy of the client that follows no redirect. Without a client,
// or with one that has no transport, requests to this machine use no proxy, and
// headers are bounded.
func New(client *http.Client) *http.Client {
	var own http.Client
	if client != nil {
		own = *client
	}
	if own.Transport == nil {
		own.Transport = shared()
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// proxy is the proxy of the environment, and none for this machine.
func proxy(r *http.Request) (*url.URL, error) {
	if local(r.URL.Hostname()) {
		return nil, nil //nolint:nilnil // as http.Transport has it
	}
	return http.ProxyFromEnvironment(r)
}

// local reports whether a host is this machine.
func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address := net.ParseIP(host)
	return address != nil && (address.IsLoopback() || address.IsUnspecified())
}

// Do sends a request with a JSON body, and with a bearer key if there is one. A
// redirect is a [*RedirectError]. Errors name the server without credentials. The
// caller closes the body of the response.
func Do(ctx context.Context, client *http.Client, method, address string, body []byte, key string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("addressing %s: %w", Display(address), Cause(err))
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := New(client).Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", Display(address), Cause(err))
	}
	if err := Redirected(response); err != nil {
		_ = response.Body.Close() // the redirect is the error to return
		return nil, fmt.Errorf("asking %s: %w", Display(address), err)
	}
	return response, nil
}

// Redirected returns a [*RedirectError] for a response that redirects.
func Redirected(response *http.Response) error {
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return nil
	}
	to := ""
	if location, err := response.Location(); err == nil {
		to = Display(location.String())
	}
	return &RedirectError{response.StatusCode, to}
}

// Read reads a whole body of at most limit bytes; a longer one is [ErrTooLong].
func Read(body io.Reader, limit int64) ([]byte, error) { return io.ReadAll(Limit(body, limit)) }

// Limit returns a reader of at most limit bytes of a body. A body that goes on
// is [ErrTooLong], not an end of file.
func Limit(body io.Reader, limit int64) io.Reader { return &limited{body, limit, limit} }

type limited struct {
	body        io.Reader
	limit, left int64
}

// Read reads one byte more than is left to find a body that is too long.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	if int64(n) > l.left {
		n, l.left = int(l.left), 0
		return n, fmt.Errorf("%w: over %d bytes", ErrTooLong, l.limit)
	}
	l.left -= int64(n)
	return n, err
}

// Display is an address without user, password, query and fragment, which may
// hold credentials.
func Display(address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" {
		u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
		return u.String()
	}
	address, _, _ = strings.Cut(address, "?")
	return address[strings.LastIndex(address, "@")+1:]
}

// Cause is the error of a request without its URL, which may hold credentials.
func Cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
