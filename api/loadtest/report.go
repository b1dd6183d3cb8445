package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"toolgym/internal/goroutine"
)

// figures are of many waits.
type figures struct {
	Calls     int     `json:"calls"`
	PerSecond float64 `json:"per_second"`
	Median    float64 `json:"median_ms"`
	P99       float64 `json:"p99_ms"`
	Max       float64 `json:"max_ms"`
}

func figuresOf(waits [][]time.Duration, took time.Duration) figures {
	all := slices.Concat(waits...)
	if len(all) == 0 {
		return figures{}
	}
	slices.Sort(all)
	at := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1000 }
	return figures{Calls: len(all), PerSecond: float64(len(all)) / took.Seconds(), Median: at(0.5), P99: at(0.99), Max: at(1)}
}

// A report is what came of a measurement.
type report struct {
	Episodes int     `json:"episodes"`
	Clients  int     `json:"clients"`
	Killed   bool    `json:"killed"`
	Server   figures `json:"server"`
	// Bare is the bare Echo handler under the same clients.
	Bare *figures `json:"bare,omitempty"`
	// Restart is the time from the kill to the address of the next server, in
	// seconds; Longest is the longest that a client waited meanwhile.
	Restart float64 `json:"restart_s,omitempty"`
	Longest float64 `json:"longest_wait_s,omitempty"`
	// Memory of the server's process, in MiB: when all episodes were there, with
	// no step yet, after each quarter of the time, and at the end. A zero is a
	// moment at which the server was away.
	Memory []float64 `json:"memory_mib"`
	Faults int64     `json:"faults"`
	First  string    `json:"first_fault,omitempty"`
	// Hostile is what came of a run with hostile clients; nil for others.
	Hostile *hostility `json:"hostile,omitempty"`
}

// sum sums up, after every episode has been checked.
func (r *report) sum(players []*player, took time.Duration) {
	var group sync.WaitGroup
	waits := make([][]time.Duration, len(players))
	for i, p := range players {
		waits[i] = p.waits[calm]
		r.Longest = max(r.Longest, p.longest.Seconds())
		goroutine.Go(&group, p.check, p.failed)
	}
	group.Wait()
	r.Server = figuresOf(waits, took)
	s := players[0].siege
	r.Faults, r.First = s.faults.count.Load(), s.faults.firstText()
}

// broken is the error of a promise that was not kept.
func (r report) broken() (err error) {
	if r.Faults != 0 {
		err = fmt.Errorf("%d answers that should not have been; the first: %s", r.Faults, r.First)
	}
	if r.Hostile != nil {
		err = errors.Join(err, r.Hostile.broken())
	}
	return err
}

func (r report) print(out io.Writer) error {
	line := func(name string, f figures) string {
		return fmt.Sprintf("%-8s %8d calls %8.0f/s   median %6.2f ms   p99 %6.2f ms   max %7.2f ms\n", name, f.Calls, f.PerSecond, f.Median, f.P99, f.Max)
	}
	text := fmt.Sprintf("%d episodes, %d clients\n", r.Episodes, r.Clients) + line("bare", *r.Bare) + line("toolgym", r.Server) +
		fmt.Sprintf("memory   %.0f MiB, by quarters of the time\n", r.Memory)
	if r.Killed {
		text += fmt.Sprintf("killed   back after %.2f s; the longest wait was %.2f s\n", r.Restart, r.Longest)
	}
	text += fmt.Sprintf("faults   %d (errors, steps lost, steps made twice)\n", r.Faults)
	if _, err := io.WriteString(out, text); err != nil || r.Hostile == nil {
		return err
	}
	return r.Hostile.print(out)
}
