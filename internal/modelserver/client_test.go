package modelserver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

// No status, method or client leads to another address, and the error names it
// without what may be a credential.
func TestRedirectsAreNotFollowed(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", strings.Replace(other.URL, "http://", "http://user:secret@", 1)+"/x?key=secret#secret")
				w.WriteHeader(status)
			}))
			request, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("a prompt"))
			if err != nil {
				t.Fatal(err)
			}
			follows := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
			response, err := New(follows).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			got := (*RedirectError)(nil)
			if err := Redirected(response); !errors.As(err, &got) || got.Location != other.URL+"/x" || got.Status != status || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s %d: error %v", method, status, err)
			}
			server.Close()
		}
	}
	if asked > 0 {
		t.Errorf("the other address was asked %d times", asked)
	}
	if err := Redirected(&http.Response{StatusCode: http.StatusFound}); err == nil || !strings.Contains(err.Error(), "HTTP 302") {
		t.Errorf("a redirect without an address: %v", err)
	}
	if err := Redirected(&http.Response{StatusCode: http.StatusOK}); err != nil {
		t.Errorf("no redirect: %v", err)
	}
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		body io.Reader
		want string
		err  error
	}{
		"short":             {strings.NewReader("abc"), "abc", nil},
		"at the limit":      {strings.NewReader("abcd"), "abcd", nil},
		"over it":           {strings.NewReader("abcde"), "abcd", ErrTooLong},
		"byte by byte":      {iotest.OneByteReader(strings.NewReader("abcde")), "abcd", ErrTooLong},
		"data with the end": {iotest.DataErrReader(strings.NewReader("abcd")), "abcd", nil},
		"empty":             {strings.NewReader(""), "", nil},
		"broken":            {iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abcde"))), "a", iotest.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(test.body, 4)
			if string(got) != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

// A compressed reply counts by what it becomes.
func TestReadCountsDecodedBytes(t *testing.T) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := New(nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if text, err := Read(response.Body, MaxReply); !errors.Is(err, ErrTooLong) || len(text) != MaxReply {
		t.Errorf("%d bytes of %d packed ones, %v", len(text), packed.Len(), err)
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeaders))
	}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := New(nil).Do(request)
	if err == nil {
		_ = response.Body.Close()
		t.Error("headers over the limit were read")
	}
}

func TestNoProxyForThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "ollama.localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "0.0.0.0": true, "::": true,
		"10.0.0.1": false, "example.com": false, "localhost.example.com": false, "": false,
	} {
		if got := local(host); got != want {
			t.Errorf("local(%q) = %t; want %t", host, got, want)
		}
	}
	for _, address := range []string{"http://127.0.0.1:11434/api/chat", "http://[::1]:1/", "http://localhost:1/"} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if to, err := proxy(&http.Request{URL: u}); to != nil || err != nil {
			t.Errorf("%s goes through %v, %v", address, to, err)
		}
	}
}

func TestDisplay(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:11434":                           "http://127.0.0.1:11434",
		"http://user:secret@host:1/path?key=secret#secret": "http://host:1/path",
		"user:secret@host:1":                               "host:1",
		"http://user:sec%ret@host":                         "host",
		"":                                                 "",
	} {
		if got := Display(address); got != want {
			t.Errorf("Display(%q) = %q; want %q", address, got, want)
		}
	}
	_, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://user:sec%ret@host", nil)
	if text := Cause(err).Error(); strings.Contains(text, "sec%ret") {
		t.Errorf("the cause is %s", text)
	}
}
