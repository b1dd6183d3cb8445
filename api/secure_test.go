package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
)

// listening serves on a real listener with the server's own time limits, which
// httptest's does not have.
func listening(t *testing.T, config api.Config) (*fixture, string) {
	t.Helper()
	f := unplugged(t, config)
	listener := listen(t)
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(f.server.Shutdown(t.Context()), <-served); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	f.url = "http://" + listener.Addr().String()
	return f, listener.Addr().String()
}

// TestEveryPhaseHasALimit: whoever stops in the middle is hung up on.
func TestEveryPhaseHasALimit(t *testing.T) {
	const short = 500 * time.Millisecond // far longer than a loaded machine takes to read one line
	tests := []struct{ name, sent, want string }{
		{"nothing is sent", "", ""},
		{"the head stops", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow:", ""},
		{"the body stops", "POST /v1/episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"task_id\"", "408 Request Timeout"},
		{"nothing follows an answer", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "200 OK"},
	}
	_, address := listening(t, api.Config{HeaderTimeout: short, BodyTimeout: short, IdleTimeout: short})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // a hang becomes a failure
			if _, err := io.WriteString(conn, test.sent); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn) // until the server hangs up
			if err != nil {
				t.Fatalf("it is not hung up on: %v", err)
			}
			if line, _, _ := strings.Cut(string(got), "\r\n"); !strings.HasSuffix(line, test.want) {
				t.Errorf("%q, want %q", line, test.want)
			}
		})
	}
}

// TestAnAnswerThatNobodyReads does not hold the server up for ever. The limits
// leave the bodies before it time enough on a loaded machine.
func TestAnAnswerThatNobodyReads(t *testing.T) {
	f, address := listening(t, api.Config{BodyTimeout: 3 * time.Second, CallTimeout: 50 * time.Millisecond})
	episode := f.begin("tally/endless/1")
	for range 20 {
		f.ask("POST", episode+"/messages", `{"content":"`+strings.Repeat("x", 1<<19)+`"}`)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET "+episode+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(f.logged(), "route=/v1/episodes/:id status=200") { // until the handler has given up; the test's own limit is the failure
		time.Sleep(time.Millisecond)
	}
}

func TestConcurrencyIsLimited(t *testing.T) {
	faults := &tallyFaults{entered: make(chan struct{}), release: make(chan struct{})}
	f := serve(t, api.Config{Specs: tools.Specs{tallySpec(faults)}, MaxConcurrent: 1})
	episode := f.begin("tally/0/9")
	held := make(chan answer)
	go func() { held <- f.ask("POST", episode+"/calls", `{"name":"break","arguments":{"how":"wait"}}`) }()
	<-faults.entered
	got := f.ask("GET", "/v1/envs", "")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("beyond the limit: %d %s", got.status, got.body)
	}
	checkProblem(t, "GET", got)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if got := f.ask("GET", path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	close(faults.release)
	if got := <-held; got.status != http.StatusOK {
		t.Errorf("the call that was held: %d", got.status)
	}
	if got := f.ask("GET", "/v1/envs", ""); got.status != http.StatusOK {
		t.Errorf("afterwards: %d", got.status)
	}
}

// certificate writes a self-signed one for the loopback.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, text []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private), pool
}

func TestTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	_, address := listening(t, api.Config{CertFile: cert, KeyFile: key})
	ask := func(settings *tls.Config) error {
		transport := &http.Transport{TLSClientConfig: settings}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get("https://" + address + "/healthz")
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := ask(&tls.Config{RootCAs: pool}); err != nil {
		t.Error(err)
	}
	if err := ask(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if got := sendRaw(t, address, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 400") {
		t.Errorf("plain HTTP: %.60q", got)
	}
	if got := concurrentStreams(t, address, pool); got != 100 {
		t.Errorf("the server takes %d streams of an HTTP/2 connection; want 100", got)
	}
	_, err := api.New(api.Config{Specs: tools.Specs{tallySpec(nil)}, CertFile: key, KeyFile: cert})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Where != "CertFile" {
		t.Errorf("files that are exchanged: %v", err)
	}
}

// concurrentStreams asks a server for the number of streams that it takes of one
// HTTP/2 connection: the setting 3 of the frame of settings (type 4) with which it
// begins (RFC 9113, section 6.5).
func concurrentStreams(t *testing.T, address string, pool *x509.CertPool) uint32 {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 9)
	if _, err := io.ReadFull(conn, head); err != nil || head[3] != 4 {
		t.Fatalf("got the frame % x, error %v; want settings", head, err)
	}
	settings := make([]byte, int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(conn, settings); err != nil {
		t.Fatal(err)
	}
	for setting := range slices.Chunk(settings, 6) {
		if binary.BigEndian.Uint16(setting) == 3 {
			return binary.BigEndian.Uint32(setting[2:])
		}
	}
	return 0
}

// TestSecretsStayOutOfTheLog looks at all that is logged of requests that are
// refused and accepted.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	f := guarded(t, api.Config{})
	f.ask("GET", "/v1/envs?key="+secretOf("alice"), "", bearer("alice"))
	f.ask("POST", "/v1/episodes", `{"task_id":"`+secretOf("alice")+`"}`, bearer("alice"))
	f.ask("GET", "/v1/envs", "", "Authorization: Basic "+secretOf("bob"))
	f.ask("GET", "/v1/envs", "", "X-API-Key: "+secretOf("nobody"))
	if log := f.logged(); strings.Contains(log, "SECRET") || !strings.Contains(log, "status=401") {
		t.Errorf("the log says %s", log)
	}
}
