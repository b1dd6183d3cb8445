//go:build unix

package main

import (
	"strings"
	"testing"

	"toolgym/internal/contest"
	"toolgym/internal/parts"
)

func TestRun(t *testing.T) {
	python := parts.Need(t, parts.Torch)
	var out strings.Builder
	if err := run(&out, python, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"toolgym ", "1.000", "PyTorch, lean ", "PyTorch, published "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestRunRefuses(t *testing.T) {
	cases := map[string]struct {
		python          string
		rounds, updates int
		reason          string
	}{
		"no rounds":      {"python3", 0, 1, "0 rounds"},
		"no updates":     {"python3", 1, -1, "-1 updates"},
		"no such Python": {"/nowhere/python3", 1, 1, "starting the lean peer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(&strings.Builder{}, c.python, c.rounds, c.updates)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
		})
	}
}

func TestReport(t *testing.T) {
	all := []contest.Contestant{{Name: "a"}, {Name: "b"}}
	times := contest.Times{{2e6, 4e6}, {3e6, 30e6}, {4e6, 16e6}, {5e6, 20e6}}
	var out strings.Builder
	if err := report(&out, all, times); err != nil {
		t.Fatal(err)
	}
	want := "one update  CPU ms  toolgym's share\na           3.50    1.000\nb           18.00   0.250\n"
	if out.String() != want {
		t.Errorf("got\n%s, want\n%s", out.String(), want)
	}
}
