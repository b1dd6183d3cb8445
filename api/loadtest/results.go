package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// results are what came of the attacks.
type results struct {
	mu     sync.Mutex
	byName map[string]*result
}

// A result is what came of one row of the table.
type result struct {
	Statuses map[int]int `json:"statuses"`         // 0 counts connections that were closed
	Opened   int         `json:"opened,omitempty"` // connections that are held
	Sent     int         `json:"sent_bytes"`
	Received int         `json:"received_bytes"`
	Longest  float64     `json:"longest_ms"` // of an answer
	running  int         // attackers that are at the row
}

// of returns the result of a row. It is called with mu held.
func (r *results) of(name string) *result {
	if r.byName == nil {
		r.byName = map[string]*result{}
	}
	if r.byName[name] == nil {
		r.byName[name] = &result{Statuses: map[int]int{}}
	}
	return r.byName[name]
}

func (r *results) begin(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).running++
}

func (r *results) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).running--
}

func (r *results) opened(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(name).Opened++
}

func (r *results) note(name string, status, sent, received int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.of(name)
	one.Statuses[status]++
	one.Sent += sent
	one.Received += received
	one.Longest = max(one.Longest, float64(took.Microseconds())/1000)
}

// running are the rows that attackers are at.
func (r *results) running() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if r.byName[name].running > 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// taken returns a copy of the results.
func (r *results) taken() map[string]result {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]result{}
	for name, one := range r.byName {
		kept := *one
		kept.Statuses = maps.Clone(one.Statuses)
		all[name] = kept
	}
	return all
}

// printAttacks writes a line for each row.
func printAttacks(out io.Writer, all map[string]result) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := all[name]
		var statuses []string
		for _, status := range slices.Sorted(maps.Keys(one.Statuses)) {
			statuses = append(statuses, fmt.Sprintf("%d: %d", status, one.Statuses[status]))
		}
		if one.Opened > 0 {
			statuses = append(statuses, fmt.Sprintf("opened: %d", one.Opened))
		}
		_, err := fmt.Fprintf(out, "  %-44s sent %7.2f MiB, received %7.2f MiB, longest %8.1f ms   %s\n", name,
			float64(one.Sent)/(1<<20), float64(one.Received)/(1<<20), one.Longest, strings.Join(statuses, ", "))
		if err != nil {
			return err
		}
	}
	return nil
}
