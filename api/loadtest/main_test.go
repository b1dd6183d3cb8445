package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
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

// TestServer runs what needs a server, with one build of it.
func TestServer(t *testing.T) {
	binary, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, string){"siege": testSiege, "hostility": testHostility, "attacks": testAttacks} {
		t.Run(name, func(t *testing.T) { test(t, binary) })
	}
}

// testSiege runs the whole of it for a moment: everything that is promised
// is counted, with and without a kill.
func testSiege(t *testing.T, binary string) {
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

// testHostility runs the phases for a moment, with a few rows of each kind. The
// figures of speed are there, and nothing is said of them.
func testHostility(t *testing.T, binary string) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"-hostile", "-episodes", "40", "-clients", "10", "-d", "1s", "-json", "-toolgym", binary, "-attacks", "^(another|doubled|two|a form|schema: anyOf|held: (slow|sign))"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	h := r.Hostile
	if h == nil || r.Clients != 8 || h.Clients != 2 || r.Server.Calls == 0 || h.Server.Calls == 0 || h.Ratio <= 0 || h.Visits[calm].Calls == 0 || h.Requests == 0 || len(h.Memory) != units/2 || len(r.Memory) != units/2+2 {
		t.Errorf("%s", out.String())
	}
	if got := h.Attacks["held: sign-ins"].Statuses[http.StatusSeeOther]; got == 0 {
		t.Errorf("nobody signed in: %+v", h.Attacks)
	}
}

// TestHostilePromises: each promise that is broken is an error, and slowness is
// none.
func TestHostilePromises(t *testing.T) {
	for _, test := range []struct {
		name string
		h    hostility
		want string // "" means kept
	}{
		{"slow", hostility{Ratio: 9}, ""},
		{"the process ended", hostility{Ended: "MCP: batches"}, "MCP: batches"},
		{"an answer", hostility{Faults: 1, First: "status 500"}, "status 500"},
		{"a panic", hostility{Log: logged{Panics: 1, First: "panic: x"}}, "panic: x"},
		{"an error in the log", hostility{Log: logged{Errors: 1, First: "level=ERROR"}}, "level=ERROR"},
		{"memory that grows", hostility{Growth: 1.3, Judged: true}, "grew"},
		{"memory of a short run", hostility{Growth: 1.3}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := report{Hostile: &test.h}.broken()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v; want %q", err, test.want)
			}
		})
	}
}

func TestReadLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	text := "level=INFO msg=request\nlevel=ERROR msg=request error.panic=x\npanic: y\n" + strings.Repeat("z", 1<<17) + "\nfatal error: stack overflow"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readLog(name)
	if want := (logged{Panics: 3, Errors: 1, First: "level=ERROR msg=request error.panic=x\n"}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestLeadsAway(t *testing.T) {
	for location, want := range map[string]bool{"/": false, "/lab/training?run=x": false, "//evil.example": true, "/\\evil.example": true, "/\v/evil.example": true, "/\t/evil.example": true, "https://evil.example": true, "": true} {
		if got := leadsAway(location); got != want {
			t.Errorf("%q: got %t; want %t", location, got, want)
		}
	}
}

func TestBoundsAreKept(t *testing.T) {
	for _, args := range []string{"-clients 0", "-clients 513", "-episodes 5000", "-episodes 8 -clients 9", "-d 2h", "-d 0s", "-x", "-hostile -kill", "-hostile -clients 1 -episodes 9", "-hostile -attacks ("} {
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
