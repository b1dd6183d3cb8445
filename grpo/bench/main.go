//go:build unix

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"toolgym/internal/contest"
)

//go:embed peer.py
var script string

func main() {
	python := flag.String("python", "/usr/bin/python3", "a Python with jsonschema")
	rounds := flag.Int("rounds", 5, "turns that each takes")
	completions := flag.Int("completions", 20000, "completions in a turn")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *python, *rounds, *completions); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, python string, rounds, completions int) error {
	if rounds < 1 || completions < groupSize {
		return fmt.Errorf("%d rounds of %d completions: want at least one of %d", rounds, completions, groupSize)
	}
	built, err := build(ctx)
	if err != nil {
		return fmt.Errorf("building toolgym: %w", err)
	}
	defer built.remove()
	if err := built.hostile(ctx, w); err != nil { // first: a child's memory counts its parent's at its birth
		return err
	}
	runtime.GOMAXPROCS(1)
	work, err := newWork(completions)
	if err != nil {
		return err
	}
	texts, err := json.Marshal(work.texts)
	if err != nil {
		return fmt.Errorf("encoding the texts: %w", err)
	}
	p, err := contest.Start(python, "-c", script, string(work.tools), expectedCalls)
	if err != nil {
		return fmt.Errorf("starting the peer: %w", err)
	}
	defer p.Stop()
	if err := built.prepare(ctx, work); err != nil {
		return fmt.Errorf("starting toolgym: %w", err)
	}
	tables := []struct {
		heading string
		all     []contest.Contestant
	}{
		{"one core, CPU\tµs\ta second\ttimes Python", []contest.Contestant{
			{Name: "Python, in memory", Turn: func() (time.Duration, float64, error) { return p.Ask(texts) }},
			{Name: "toolgym, in memory", Turn: work.inMemory},
			{Name: "toolgym, scoring file", Turn: work.stream},
			{Name: "toolgym score, the whole command", Turn: built.oneCore}}},
		{"in memory, wall\tµs\ta second\ttimes one core", []contest.Contestant{
			{Name: "one core", Turn: work.onCores(1)}, {Name: "two cores", Turn: work.onCores(2)}}},
		{"two cores, wall\tµs\ta second\ttimes the command", []contest.Contestant{
			{Name: "toolgym score", Turn: built.twoCores}, {Name: "POST /v1/score/stream", Turn: built.stream}}},
	}
	for _, table := range tables {
		times, err := contest.Hold(table.all, rounds)
		if err != nil {
			return err
		}
		if err := report(w, table.heading, table.all, times, completions); err != nil {
			return err
		}
	}
	return nil
}

// report prints medians, and how many times the first contestant's rate each
// has.
func report(w io.Writer, heading string, all []contest.Contestant, times contest.Times, completions int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	for i, c := range all {
		m := times.Seconds(i) * 1e6 / float64(completions)
		fmt.Fprintf(table, "%s\t%.2f\t%.0f\t%.2f\n", c.Name, m, 1e6/m, times.Ratio(i))
	}
	return table.Flush()
}
