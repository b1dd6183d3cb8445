package main

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"
)

// testAttacks sends each row of the table once, and then asks whether the server
// is well. Rows that are held, and those that take long, are left to the program.
func testAttacks(t *testing.T, binary string) {
	secrets, tokens := issue()
	site, err := settle(t.Context(), plan{binary: binary}, tokens...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.leave(); err != nil {
			t.Error(err)
		}
	})
	s := &siege{ctx: t.Context(), sender: newSender(1)}
	defer s.sender.CloseIdleConnections()
	s.address.Store(&site.server.address)
	var state struct{ ID string }
	if status, _ := s.send(secrets[playerName(0)], http.MethodPost, "/v1/episodes", map[string]string{"task_id": "gridworld/0/1"}, &state); status != http.StatusCreated {
		t.Fatalf("beginning an episode: %d", status)
	}
	s.someEpisode.Store(&state.ID)
	b := &battery{secret: secrets["hostile"], sender: newSender(4)}
	defer b.sender.CloseIdleConnections()
	large := regexp.MustCompile("^(text: |8 MiB|22 MiB|completions of|many |400,000|20,000|evaluations that|sign-in that|MCP: )")
	for i, row := range attacks() {
		if row.held || large.MatchString(row.name) {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a := newAttacker(ctx, s, b, uint64(i), 10_000)
			a.bytes.SetLimit(1 << 40)
			began := time.Now()
			a.attack(row)
			a.release(true)
			t.Logf("%v: %v", time.Since(began).Round(time.Millisecond), b.results.taken()[row.name].Statuses) // for the eye
			if n := s.hostileFaults.count.Swap(0); n > 0 {
				t.Errorf("%d answers that should not have been, the first: %s", n, *s.hostileFaults.first.Swap(nil))
			}
			if status, _ := s.send("", http.MethodGet, "/healthz", nil, nil); status != http.StatusOK {
				t.Fatalf("afterwards GET /healthz: %d", status)
			}
		})
	}
	l, err := readLog(site.log.Name())
	if err != nil || l != (logged{}) {
		t.Errorf("the log: %+v, %v", l, err)
	}
}
