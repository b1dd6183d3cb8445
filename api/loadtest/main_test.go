package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets this test's binary be the bare handler, as the program itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == bareCommand {
		serveBare()
		return
	}
	os.Exit(m.Run())
}

// TestShortSiege runs the whole of it for a moment: everything that is promised
// is counted, with and without a kill.
func TestShortSiege(t *testing.T) {
	binary, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"-kill"}} {
		t.Run(strings.Join(append([]string{"siege"}, args...), " "), func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), append(args, "-episodes", "40", "-clients", "8", "-d", "1s", "-toolgym", binary, "-json"), &out)
			if err != nil {
				t.Fatal(err)
			}
			var r report
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			if r.Faults != 0 || r.Server.Calls == 0 || r.Bare.Calls == 0 || r.Killed != (len(args) > 0) || len(r.Memory) != 5 || r.Memory[4] == 0 {
				t.Errorf("%s", out.String())
			}
		})
	}
}

func TestBoundsAreKept(t *testing.T) {
	for _, args := range []string{"-clients 0", "-clients 513", "-episodes 5000", "-episodes 8 -clients 9", "-d 2h", "-d 0s", "-x"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}

func TestFigures(t *testing.T) {
	waits := make([][]time.Duration, 2)
	for n := range 1000 {
		waits[n%2] = append(waits[n%2], time.Duration(n+1)*time.Millisecond)
	}
	if got := figuresOf(waits, 10*time.Second); got != (figures{1000, 100, 500, 990, 1000}) {
		t.Errorf("%+v", got)
	}
	if got := figuresOf(nil, time.Second); got != (figures{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestBrokenPromisesAreFaults: a report with faults is an error.
func TestBrokenPromisesAreFaults(t *testing.T) {
	if err := (report{Faults: 2, First: "step 3 after 1"}).broken(); err == nil || !strings.Contains(err.Error(), "step 3 after 1") {
		t.Errorf("%v", err)
	}
}
