package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"toolgym/grpo/eval"
)

// executioner passes requests on to the scripted server and kills a process at
// a moment that it draws: before one of the next answers, or right behind it,
// when the trial is being written.
type executioner struct {
	lock    sync.Mutex
	draw    *rand.Rand
	process *os.Process
	left    int // chat requests until the kill; 0: none is due
	behind  bool
}

// watch sets the process to be killed.
func (e *executioner) watch(process *os.Process) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.process, e.left, e.behind = process, 1+e.draw.IntN(6), e.draw.IntN(2) == 0
}

// due counts a request and reports whether it is the process's last.
func (e *executioner) due() (now, behind bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.left == 0 {
		return false, false
	}
	e.left--
	return e.left == 0, e.behind
}

func (e *executioner) ServeHTTP(w http.ResponseWriter, r *http.Request, next http.Handler) {
	now, behind := false, false
	if r.URL.Path == "/api/chat" {
		now, behind = e.due()
	}
	if now && !behind {
		_ = e.process.Kill()
		return
	}
	next.ServeHTTP(w, r)
	if now {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		_ = e.process.Kill()
	}
}

// A run that is killed at 50 drawn moments (kill -9), each time by the next
// start gone on with, has every trial exactly once in the end. What a killed
// process had kept is never asked for again: each kill costs at most the one
// request that was under way.
func TestKilledFiftyTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 51 processes")
	}
	const kills, questions, trials = 50, 60, 4
	script := fake(t)
	e := &executioner{draw: rand.New(rand.NewPCG(20260504, 1))}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.ServeHTTP(w, r, script.Config.Handler) }))
	t.Cleanup(server.Close)
	dir, suite := t.TempDir(), sums(t, questions)
	command := func() *exec.Cmd {
		return exec.Command("toolgym", "eval", "--model", "weak", "--ollama", server.URL, "--suite", suite, "--trials", fmt.Sprint(trials), "--run", "r", "--resume", "--data", dir)
	}
	for k := range kills {
		c := command()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		e.watch(c.Process)
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != -1 {
			t.Fatalf("start %d was not killed: %v", k+1, err)
		}
	}
	if out, err := command().CombinedOutput(); err != nil {
		t.Fatalf("the last start: %v\n%s", err, out)
	}
	wholeRun(t, dir, questions, trials)
	if asked := script.asked.Load(); asked < questions*trials || asked > questions*trials+kills {
		t.Errorf("the model was asked %d times for %d trials and %d kills", asked, questions*trials, kills)
	}
}

// wholeRun fails unless every (task, trial) is kept exactly once.
func wholeRun(t *testing.T, dir string, questions, trials int) {
	t.Helper()
	seen := map[string]int{}
	lines := strings.Split(strings.TrimSpace(tell(t.Context(), dir, "runs", "export", "r", "-").out), "\n")
	for _, line := range lines[1:] {
		var r eval.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprintf("%s %d", r.Task, r.Trial.Trial)]++
	}
	if len(lines)-1 != questions*trials || len(seen) != questions*trials {
		t.Errorf("%d trials are kept, %d different ones, want %d", len(lines)-1, len(seen), questions*trials)
	}
	tell(t.Context(), dir, "runs").expect(t, exitDone, fmt.Sprintf("%d/%d", questions*trials, questions*trials))
}
