//go:build unix

package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"

	"toolgym/internal/contest"
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

func run(w io.Writer, python string, rounds, updates int) error {
	if rounds < 1 || updates < 1 {
		return fmt.Errorf("%d rounds of %d updates: want at least one of each", rounds, updates)
	}
	runtime.GOMAXPROCS(1)
	ours, err := newOurs()
	if err != nil {
		return err
	}
	all := []contest.Contestant{{Name: "toolgym", Turn: func() (time.Duration, float64, error) {
		took, err := ours.turn(updates)
		return took, 0, err // updates come to nothing that could be compared
	}}}
	for _, name := range []string{"lean", "published"} {
		p, err := contest.Start(python, "-c", script, name)
		if err != nil {
			return fmt.Errorf("starting the %s peer: %w", name, err)
		}
		defer p.Stop()
		all = append(all, contest.Contestant{Name: "PyTorch, " + name, Turn: func() (time.Duration, float64, error) {
			took, _, err := p.Ask([]byte(strconv.Itoa(updates)))
			return took / time.Duration(updates), 0, err
		}})
	}
	times, err := contest.Hold(all, rounds)
	if err != nil {
		return err
	}
	return report(w, all, times)
}

// report prints medians, and the share that ours takes of each.
func report(w io.Writer, all []contest.Contestant, times contest.Times) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "one update\tCPU ms\ttoolgym's share")
	for i, c := range all {
		fmt.Fprintf(table, "%s\t%.2f\t%.3f\n", c.Name, times.Seconds(i)*1e3, times.Ratio(i))
	}
	return table.Flush()
}
