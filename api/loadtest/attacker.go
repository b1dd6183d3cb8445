package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"toolgym/internal/goroutine"
)

// The bounds of what one attacker sends. The load generator shares the cores
// with the server, so that an attacker without bounds would measure itself.
const (
	attackRate  = 4        // requests a second
	attackBytes = 2 << 20  // bytes a second, of bodies
	attackBurst = 24 << 20 // bytes at once: the largest body
	holdRate    = 200      // requests a second of one that holds something, until it has it
)

// An attacker is a hostile client. It has one request on its way at a time.
type attacker struct {
	*siege
	ctx      context.Context //nolint:containedctx // of one hostile phase
	secret   string          // of the hostile token
	sender   *http.Client
	random   *rand.Rand
	requests *rate.Limiter
	bytes    *rate.Limiter
	results  *results
	row      attack // the row that it is at

	mu   sync.Mutex
	open []io.Closer
	done bool
}

// newAttacker makes an attacker for one hostile phase.
func newAttacker(ctx context.Context, s *siege, b *battery, number uint64, perSecond rate.Limit) *attacker {
	bytes := rate.NewLimiter(attackBytes, attackBurst)
	bytes.AllowN(time.Now(), attackBurst-attackBytes)                                                                  // the burst is for single large bodies, and not for all at the beginning
	return &attacker{siege: s, ctx: ctx, secret: b.secret, sender: b.sender, random: rand.New(rand.NewPCG(number, 1)), //nolint:gosec // the order of a table
		requests: rate.NewLimiter(perSecond, 1), bytes: bytes, results: &b.results}
}

// wait waits until the attacker may send a request with so many bytes.
func (a *attacker) wait(bytes int) error {
	if err := a.requests.Wait(a.ctx); err != nil {
		return err
	}
	return a.bytes.WaitN(a.ctx, min(bytes, attackBurst))
}

// hold keeps something open until release.
func (a *attacker) hold(c io.Closer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		_ = c.Close()
		return
	}
	a.open = append(a.open, c)
}

// release closes what is held, and with last everything that is to come.
func (a *attacker) release(last bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.open {
		_ = c.Close()
	}
	a.open, a.done = nil, last
}

// attack sends one row.
func (a *attacker) attack(row attack) {
	a.row = row
	a.results.begin(row.name)
	defer a.results.end(row.name)
	row.send(a)
}

// broken counts an answer that should not have been.
func (a *attacker) broken(format string, args ...any) {
	a.hostileFaults.add("%s: "+format, append([]any{a.row.name}, args...)...)
}

func (a *attacker) note(status, sent, received int, took time.Duration) {
	a.results.note(a.row.name, status, sent, received, took)
}

// A battery is the hostile clients of one measurement and what they share.
type battery struct {
	secret  string
	sender  *http.Client
	table   []attack
	clients int
	results results
}

// run attacks until the context ends: each client goes round the table in an
// order of its own, and each held row has a client for itself.
func (b *battery) run(ctx context.Context, s *siege, phase uint64) {
	var group sync.WaitGroup
	var all []*attacker
	start := func(number uint64, perSecond rate.Limit, do func(*attacker)) {
		a := newAttacker(ctx, s, b, phase<<32|number, perSecond)
		all = append(all, a)
		goroutine.Go(&group, func() { do(a) }, func(err error) { s.hostileFaults.add("an attacker failed: %v", err) })
	}
	for i := range b.clients {
		start(uint64(i), attackRate, func(a *attacker) { a.round(b.table) })
	}
	for i, row := range b.table {
		if row.held {
			start(uint64(b.clients+i), holdRate, func(a *attacker) { a.attack(row) })
		}
	}
	<-ctx.Done()
	for _, a := range all {
		a.release(true)
	}
	group.Wait()
}

// round sends the rows that are not held, again and again.
func (a *attacker) round(table []attack) {
	for {
		for _, i := range a.random.Perm(len(table)) {
			if a.ctx.Err() != nil {
				return
			}
			if !table[i].held {
				a.attack(table[i])
				a.release(false)
			}
		}
	}
}
