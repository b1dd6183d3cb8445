package main

import (
	"encoding/json"
	"fmt"
	"io"
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

// Ctrl-C keeps what is done and says how to go on; a second one, while the
// first is being heeded, loses nothing either.
func TestInterrupted(t *testing.T) {
	for _, times := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d times", times), func(t *testing.T) {
			script := fake(t)
			processes, chats := make(chan *os.Process, 1), 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/chat" {
					chats++
				}
				if chats == 5 && r.URL.Path == "/api/chat" { // one at a time: the others come after it
					process := <-processes
					for range times {
						_ = process.Signal(os.Interrupt)
					}
					_, _ = io.Copy(io.Discard, r.Body) // only then is the end of the connection seen
					<-r.Context().Done()
					return
				}
				script.Config.Handler.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			dir := t.TempDir()
			args := []string{"eval", "--model", "good", "--ollama", server.URL, "--suite", sums(t, 10), "--run", "r", "--resume", "--data", dir}
			c := exec.Command("toolgym", args...)
			var said strings.Builder
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			processes <- c.Process
			err := c.Wait()
			code := c.ProcessState.ExitCode()
			if err == nil || code != exitOutside && (times == 1 || code != -1) {
				t.Errorf("exit code %d, %v", code, err)
			}
			if code == exitOutside && !strings.Contains(said.String(), "stopped with 4 of 10 trials kept; go on with toolgym eval --resume --run r --data "+quote(dir)+"\n") {
				t.Errorf("it says %q", said.String())
			}
			tell(t.Context(), dir, args[:len(args)-2]...).expect(t, exitDone, "good passes 100.0 %")
			wholeRun(t, dir, 10, 1)
		})
	}
}
