//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

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

// contestant scores all completions once, and tells the time and the sum of the
// rewards.
type contestant struct {
	name string
	turn func() (time.Duration, float64, error)
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
	p, err := startPeer(python, work)
	if err != nil {
		return fmt.Errorf("starting the peer: %w", err)
	}
	defer p.stop()
	if err := built.prepare(ctx, work); err != nil {
		return fmt.Errorf("starting toolgym: %w", err)
	}
	tables := []struct {
		heading string
		all     []contestant
	}{
		{"one core, CPU\tµs\ta second\ttimes Python", []contestant{
			{"Python, in memory", p.turn}, {"toolgym, in memory", work.inMemory}, {"toolgym, scoring file", work.stream}, {"toolgym score, the whole command", built.oneCore}}},
		{"in memory, wall\tµs\ta second\ttimes one core", []contestant{
			{"one core", work.onCores(1)}, {"two cores", work.onCores(2)}}},
		{"two cores, wall\tµs\ta second\ttimes the command", []contestant{
			{"toolgym score", built.twoCores}, {"POST /v1/score/stream", built.stream}}},
	}
	for _, table := range tables {
		times, err := compete(table.all, rounds)
		if err != nil {
			return err
		}
		if err := report(w, table.heading, table.all, times, completions); err != nil {
			return err
		}
	}
	return nil
}

// compete lets all take turns, after one that does not count, and returns a row
// of times for each round. Contestants that pay differently do not compare.
func compete(all []contestant, rounds int) ([][]time.Duration, error) {
	var times [][]time.Duration
	for round := range rounds + 1 {
		var row []time.Duration
		var first float64
		for i, c := range all {
			took, rewards, err := c.turn()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if i == 0 {
				first = rewards
			}
			if math.Abs(rewards-first) > 1e-6*math.Abs(first) {
				return nil, fmt.Errorf("%s pays %v in all, %s pays %v", c.name, rewards, all[0].name, first)
			}
			row = append(row, took)
		}
		if round > 0 {
			times = append(times, row)
		}
	}
	return times, nil
}

// report prints medians, and how many times the first contestant's rate each
// has.
func report(w io.Writer, heading string, all []contestant, times [][]time.Duration, completions int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	for i, c := range all {
		var took, ratio []float64
		for _, row := range times {
			took = append(took, row[i].Seconds()*1e6/float64(completions))
			ratio = append(ratio, row[0].Seconds()/row[i].Seconds())
		}
		m := median(took)
		fmt.Fprintf(table, "%s\t%.2f\t%.0f\t%.2f\n", c.name, m, 1e6/m, median(ratio))
	}
	return table.Flush()
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
