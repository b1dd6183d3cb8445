//go:build unix

package main

import (
	"strings"
	"testing"

	"toolgym/internal/contest"
	"toolgym/internal/parts"
)

// A run also shows that both sides pay the same.
func TestRun(t *testing.T) {
	python := parts.Need(t, parts.Jsonschema)
	var out strings.Builder
	if err := run(t.Context(), &out, python, 1, 64); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Python, in memory", "toolgym, in memory", "toolgym, scoring file", "the whole command", "two cores ", "POST /v1/score/stream", "deep arguments", "1.00"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestRunRefuses(t *testing.T) {
	cases := map[string]struct {
		python              string
		rounds, completions int
		reason              string
	}{
		"no rounds":      {"python3", 0, 64, "0 rounds"},
		"no group":       {"python3", 1, 7, "7 completions"},
		"no such Python": {"/nowhere/python3", 1, 64, "starting the peer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), &strings.Builder{}, c.python, c.rounds, c.completions)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
		})
	}
}

func TestReport(t *testing.T) {
	all := []contest.Contestant{{Name: "a"}, {Name: "b"}}
	times := contest.Times{{40e6, 4e6}, {50e6, 10e6}, {60e6, 12e6}}
	var out strings.Builder
	if err := report(&out, "one completion\tCPU µs\ta second\ttimes Python", all, times, 1000); err != nil {
		t.Fatal(err)
	}
	want := "one completion  CPU µs  a second  times Python\na               50.00   20000     1.00\nb               10.00   100000    5.00\n"
	if out.String() != want {
		t.Errorf("got\n%s, want\n%s", out.String(), want)
	}
}
