package main

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolgym/internal/goroutine"
)

// measure plays against a server of its own.
func measure(ctx context.Context, p plan) (r report, err error) {
	site, err := settle(ctx, p)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, site.leave()) }()
	s := &siege{ctx: ctx, sender: newSender(p.clients)}
	defer s.sender.CloseIdleConnections()
	s.address.Store(&site.server.address)
	players := enlist(s, p, "")
	r = report{Episodes: p.episodes, Clients: p.clients, Killed: p.kill}
	r.Memory = []float64{s.memory()}
	began := time.Now()
	stopped := s.play(players)
	stop := s.sample(p.duration, &r.Memory)
	timer := time.AfterFunc(p.duration, func() { s.over.Store(true) })
	defer timer.Stop()
	if p.kill {
		sleep(ctx, p.duration/2)
		if r.Restart, err = s.replace(site); err != nil {
			return r, err
		}
	}
	stopped.Wait()
	stop()
	r.sum(players, time.Since(began))
	r.Memory = append(r.Memory, s.memory())
	return r, ctx.Err()
}

// play lets the players play until the time is over.
func (s *siege) play(players []*player) *sync.WaitGroup {
	group := new(sync.WaitGroup)
	for _, player := range players {
		goroutine.Go(group, player.play, s.failed)
	}
	return group
}

// failed counts a panic of this program as a fault.
func (s *siege) failed(err error) { s.faults.add("%v", err) }

// replace kills the server and starts another on its data. It tells how many
// seconds there was none.
func (s *siege) replace(site *site) (seconds float64, err error) {
	s.away.Store(true)
	gone := time.Now()
	if err := site.server.kill(); err != nil {
		return 0, err
	}
	if err := site.serve(s.ctx); err != nil {
		return 0, err
	}
	s.address.Store(&site.server.address)
	return time.Since(gone).Seconds(), nil
}

// enlist makes the players and their episodes. They share the tokens.
func enlist(s *siege, p plan, secrets ...string) []*player {
	players := make([]*player, p.clients)
	var group sync.WaitGroup
	for i := range players {
		share := p.episodes / p.clients
		if i < p.episodes%p.clients {
			share++
		}
		players[i] = &player{siege: s, number: i, secret: secrets[i%len(secrets)], episodes: make([]episode, share)}
		goroutine.Go(&group, func() {
			for k := range share {
				players[i].begin(k)
			}
		}, s.failed)
	}
	group.Wait()
	return players
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// sample notes the memory after each quarter of the time but the last. The
// function that it returns waits for that to end.
func (s *siege) sample(d time.Duration, into *[]float64) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var group sync.WaitGroup
	goroutine.Go(&group, func() {
		for range 3 {
			sleep(ctx, d/4)
			if ctx.Err() != nil {
				return
			}
			*into = append(*into, s.memory())
		}
	}, s.failed)
	return func() {
		cancel()
		group.Wait()
	}
}

// memory is what the server's process holds, in MiB, as its metrics say; 0 where
// they do not.
func (s *siege) memory() float64 {
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, *s.address.Load()+"/metrics", nil)
	if err != nil {
		return 0
	}
	if s.admin != "" {
		request.Header.Set("Authorization", "Bearer "+s.admin)
	}
	response, err := s.sender.Do(request)
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "process_resident_memory_bytes "); found {
			bytes, _ := strconv.ParseFloat(value, 64) // Prometheus writes numbers
			return bytes / (1 << 20)
		}
	}
	return 0
}
