package ollamatest

import (
	"sync"
	"testing"

	"toolgym/internal/parts"
)

// The models that every server has.
const (
	Tools = "tiny-tools" // solves small arithmetic tasks by tools
	Base  = "tiny-base"  // the same training, stopped early: calls with wrong numbers
)

// Server is a running Ollama that has the models [Tools] and [Base].
type Server struct {
	// URL is the server's root, such as http://127.0.0.1:38417.
	URL string

	process *process
}

// single is the server that the tests of one process share.
type single struct {
	once   sync.Once
	server *Server
	err    error
}

// shared lives as long as the test process. There is no other place for it:
// tests of one package have nothing in common but their process.
var shared single

// Start returns the server of this test process, and starts it if it is not
// running yet. The server's log is added to t's own when t fails.
func Start(t testing.TB) *Server {
	t.Helper()
	program := parts.Need(t, parts.Ollama)
	shared.once.Do(func() { shared.server, shared.err = start(program) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	shared.server.logTo(t)
	return shared.server
}

// StartOwn starts a server for t alone, which ends with t at the latest.
func StartOwn(t testing.TB) *Server {
	t.Helper()
	server, err := start(parts.Need(t, parts.Ollama))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.process.release)
	server.logTo(t)
	return server
}

// start runs ollama and gives it its models.
func start(program string) (*Server, error) {
	process, err := launch(program)
	if err != nil {
		return nil, err
	}
	server := &Server{URL: "http://" + process.address, process: process}
	for _, model := range []string{Tools, Base} {
		if err := process.create(model); err != nil {
			process.release()
			return nil, err
		}
	}
	return server, nil
}

// Stop kills the server at once, in the middle of a reply if there is one,
// and returns when it is gone. It may be called again.
func (s *Server) Stop() { s.process.kill() }

// logTo adds what the server logs from now on to t's log, if t fails.
func (s *Server) logTo(t testing.TB) {
	from := s.process.logSize()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of ollama at %s:\n%s", s.URL, s.process.logSince(from))
		}
	})
}
