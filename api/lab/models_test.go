package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// TestModelsAreRemembered counts how often a server is asked, by a clock of the
// test's own.
func TestModelsAreRemembered(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			asked.Add(1)
		}
		_, _ = fmt.Fprint(w, `{"version":"0","models":[{"name":"one"}]}`)
	}))
	defer server.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	now := time.Unix(0, 0)
	m := &models{servers: []string{server.URL}, now: func() time.Time { return now }, within: modelsWithin}
	hungUp, cancel := context.WithCancel(t.Context())
	cancel()
	if known, silent := m.list(hungUp); len(known) != 1 || known[0] != (served{"one", server.URL}) || silent != nil {
		t.Errorf("who hangs up leaves %v and %v to others", known, silent)
	}
	for _, step := range []struct {
		later  time.Duration
		forget bool
		want   int64
	}{{0, false, 1}, {modelsFresh - 1, false, 1}, {1, false, 2}, {0, true, 3}} {
		now = now.Add(step.later)
		if step.forget {
			m.forget()
		}
		if m.list(t.Context()); asked.Load() != step.want {
			t.Errorf("after %v more it was asked %d times, want %d", step.later, asked.Load(), step.want)
		}
	}
	both := &models{servers: []string{gone.URL, server.URL}, now: m.now, within: modelsWithin}
	if known, silent := both.list(t.Context()); len(known) != 1 || len(silent) != 1 || silent[0] != gone.URL {
		t.Errorf("with one gone: %v, %v", known, silent)
	}
	asks := asked.Load()
	now = now.Add(modelsFresh)
	if both.list(t.Context()); asked.Load() != asks {
		t.Error("a server that is gone is waited for at once again")
	}
}

// TestSilentServersHoldNobodyUp twice: while one is asked again, pages go on with
// what is known, and have its models once it answers.
func TestSilentServersHoldNobodyUp(t *testing.T) {
	answers := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answers:
			_, _ = fmt.Fprint(w, `{"version":"0","models":[{"name":"one"}]}`)
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	now := time.Unix(0, 0)
	m := &models{servers: []string{server.URL}, now: func() time.Time { return now }, within: time.Millisecond}
	if known, silent := m.list(t.Context()); known != nil || len(silent) != 1 {
		t.Fatalf("of a silent server: %v, %v", known, silent)
	}
	m.within, now = time.Hour, now.Add(modelsSilent)
	for range 3 {
		if known, silent := m.list(t.Context()); known != nil || len(silent) != 1 {
			t.Fatalf("while it is asked again: %v, %v", known, silent)
		}
	}
	close(answers)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		known, silent := m.list(t.Context())
		if len(known) == 1 && len(silent) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("long after it answered: %v, %v", known, silent)
		}
	}
}

// TestCloseWaitsForWhoAsks, so that nothing of the lab is left behind.
func TestCloseWaitsForWhoAsks(t *testing.T) {
	asked, answers := make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answers
		_, _ = fmt.Fprint(w, `{"version":"0","models":[{"name":"one"}]}`)
	}))
	defer server.Close()
	l, err := New(Config{Ollama: []string{server.URL}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	close(answers)
	l.Close()
	if len(l.models.known) != 1 {
		t.Errorf("it did not wait: %v, %v", l.models.known, l.models.silent)
	}
}
