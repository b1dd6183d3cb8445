//go:build unix

package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

//go:embed peers.py
var script string

func main() {
	python := flag.String("python", "/usr/bin/python3", "a Python with PyTorch")
	rounds := flag.Int("rounds", 15, "turns that each takes")
	updates := flag.Int("updates", 20, "updates in a turn")
	flag.Parse()
	if err := run(os.Stdout, *python, *rounds, *updates); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// contestant makes n updates and tells the CPU time of one.
type contestant struct {
	name string
	turn func(n int) (time.Duration, error)
}

func run(w io.Writer, python string, rounds, updates int) error {
	if rounds < 1 || updates < 1 {
		return fmt.Errorf("%d rounds of %d updates: want at least one of each", rounds, updates)
	}
	runtime.GOMAXPROCS(1)
	ours, err := newOurs()
	if err != nil {
		return err
	}
	all := []contestant{{"toolgym", ours.turn}}
	for _, name := range []string{"lean", "published"} {
		p, err := startPeer(python, name)
		if err != nil {
			return fmt.Errorf("starting the %s peer: %w", name, err)
		}
		defer p.stop()
		all = append(all, contestant{"PyTorch, " + name, p.turn})
	}
	times, err := compete(all, rounds, updates)
	if err != nil {
		return err
	}
	return report(w, all, times)
}

// compete lets all take turns, after one that does not count, and returns a row
// of times for each round.
func compete(all []contestant, rounds, updates int) ([][]time.Duration, error) {
	var times [][]time.Duration
	for round := range rounds + 1 {
		var row []time.Duration
		for _, c := range all {
			took, err := c.turn(updates)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			row = append(row, took)
		}
		if round > 0 {
			times = append(times, row)
		}
	}
	return times, nil
}

// report prints medians, and the share that ours takes of each.
func report(w io.Writer, all []contestant, times [][]time.Duration) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "one update\tCPU ms\ttoolgym's share")
	for i, c := range all {
		var took, share []float64
		for _, row := range times {
			took = append(took, row[i].Seconds()*1e3)
			share = append(share, row[0].Seconds()/row[i].Seconds())
		}
		fmt.Fprintf(table, "%s\t%.2f\t%.3f\n", c.name, median(took), median(share))
	}
	return table.Flush()
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
