package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/api/assessment"
	"toolgym/api/training"
	"toolgym/internal/parts"
	"toolgym/internal/refusal"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// A disk is a data folder that can be made full.
type disk struct {
	data string
	full func() (free func())
}

// limited is a disk for any user: no file of the process can grow or be changed.
func limited(t *testing.T) disk {
	return disk{t.TempDir(), func() func() { return parts.LimitFiles(t, 0) }}
}

// mounted is a file system of 8 MiB, for root.
func mounted(t *testing.T) disk {
	data := parts.SmallDisk(t, "size=8m")
	return disk{data, func() func() {
		filler := filepath.Join(data, "filler")
		file, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = file.Write(make([]byte, 4096))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		}
	}}
}

// wantFull checks an answer of a server whose disk is full.
func wantFull(t *testing.T, name string, got answer, data string) {
	t.Helper()
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "disk of the server is full") || strings.Contains(got.body, data) {
		t.Errorf("%s: got %d, Retry-After %q, %.300s; want 503 with a Retry-After and no path", name, got.status, got.header.Get("Retry-After"), got.body)
	}
}

// TestAFullDiskIsUnavailable asks for everything that the server keeps while no file
// can be written, and again afterwards.
func TestAFullDiskIsUnavailable(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	d := limited(t)
	config := api.Config{Data: d.data, Specs: tools.Specs{arithmetic.Spec(), tallySpec(nil)}}
	f := serve(t, config)
	doc := readContract(t, f)
	episode := f.begin("tally/endless/3")
	free := d.full()
	requests := []struct{ method, path, body string }{
		{"POST", "/v1/policy/runs", `{"stages":["0"],"updates":2}`},
		{"POST", "/v1/evals", `{"model":"random","route":"agent","run":"e","levels":["0"],"n":2}`},
		{"POST", "/v1/episodes", `{"task_id":"tally/0/3"}`},
		{"POST", episode + "/calls", addOne},
		{"POST", episode + "/messages", `{"content":"hello","request_id":"two"}`},
		{"POST", episode + "/fork", ""},
		{"DELETE", episode, ""},
	}
	for _, r := range requests {
		got := f.ask(r.method, r.path, r.body)
		wantFull(t, r.method+" "+r.path, got, d.data)
		doc.check(t, r.method, r.path, got)
	}
	page := f.ask("POST", "/lab/evaluations", "model=agent:random&envs=arithmetic&run=form&levels=0&n=2", "Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
	wantFull(t, "the form", page, d.data)
	if !strings.Contains(f.logged(), "file too large") {
		t.Error("the log does not tell the error")
	}
	for path, want := range map[string]string{"/v1/policy/runs": `"runs":[]`, "/v1/evals": `"evals":[]`, "/v1/episodes": `"step":0`, "/healthz": ""} {
		if got := f.ask("GET", path, ""); got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("GET %s: got %d %.200s; want %s", path, got.status, got.body, want)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(d.data, "policy")); err == nil && len(entries) > 0 {
		t.Errorf("%d files of trainings are left", len(entries))
	}
	free()
	for _, r := range requests {
		if got := f.ask(r.method, r.path, r.body); got.status >= 300 {
			t.Errorf("%s %s with space: %d %s", r.method, r.path, got.status, got.body)
		}
	}
}

// TestASmallFileSystem trains and evaluates on a real file system that is full for a
// while.
func TestASmallFileSystem(t *testing.T) {
	d := mounted(t)
	f := serve(t, api.Config{Data: d.data, Specs: tools.Specs{arithmetic.Spec()}})
	path := f.startRun(`{"stages":["0"],"updates":1000000}`)
	f.watch(path, "", func(event) bool { return true })
	free := d.full()
	wantFull(t, "another training", f.ask("POST", "/v1/policy/runs", `{"stages":["0"],"updates":2}`), d.data)
	var state training.State
	poll(t, func() bool { state = f.runState(path); return state.State == training.Paused })
	if !strings.Contains(state.Error, "disk") {
		t.Errorf("the reason is %q", state.Error)
	}
	for range 20_000 { // what SQLite has allocated it can still write
		if got := f.ask("POST", "/v1/episodes", `{"task_id":"arithmetic/0/3"}`); got.status != http.StatusCreated {
			wantFull(t, "an episode", got, d.data)
			break
		}
	}
	free()
	if got := f.ask("POST", path+"/resume", ""); got.status != http.StatusOK {
		t.Errorf("resuming: %d %s", got.status, got.body)
	}
	f.watch(path, fmt.Sprint(state.Updates), func(event) bool { return true })
	if state := f.runState(path); state.State != training.Running || state.Error != "" {
		t.Errorf("resumed: %+v", state)
	}
	f.begin("arithmetic/0/3")
}

// poll waits until something is so.
func poll(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing has happened for a minute")
		}
	}
}

// TestAnEvaluationOnAFullDisk: it stops with the reason, and resumes with no trial
// lost or played twice; the trials are those of an evaluation without a full disk.
func TestAnEvaluationOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	d := limited(t)
	f := serve(t, api.Config{Data: d.data, Specs: tools.Specs{arithmetic.Spec()}})
	trials := 200
	begin := func(run string) string {
		got := f.ask("POST", "/v1/evals", fmt.Sprintf(`{"model":"random","route":"agent","run":%q,"levels":["0"],"n":%d,"seed":7}`, run, trials))
		if got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return got.header.Get("Location")
	}
	var (
		path  string
		free  func()
		state assessment.State
	)
	for ended := true; ended; { // until the disk is full before the evaluation has ended
		if free != nil {
			free()
			f.ask("DELETE", path, "")
		}
		trials *= 2
		path = begin("halted")
		f.watch(path, "", func(e event) bool { return e.id == "3" })
		free = d.full()
		poll(t, func() bool {
			got := f.ask("GET", path, "")
			if err := json.Unmarshal([]byte(got.body), &state); err != nil || got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
			return state.State != assessment.Running
		})
		ended = state.State == assessment.Done
	}
	if state.State != assessment.Stopped || !strings.Contains(state.Error, "disk") || strings.Contains(state.Error, d.data) {
		t.Errorf("got %s, %q; want stopped and the reason", state.State, state.Error)
	}
	resume := func() answer { return f.ask("POST", "/v1/evals", `{"model":"","run":"halted","resume":true}`) }
	resume() // it is stopped again
	poll(t, func() bool { return !strings.Contains(f.ask("GET", path, "").body, `"state":"running"`) })
	free()
	if got := resume(); got.status != http.StatusCreated {
		t.Fatalf("resuming: %d %s", got.status, got.body)
	}
	f.watch(path, "", toTheEnd)
	whole := begin("whole")
	f.watch(whole, "", toTheEnd)
	got, want := f.trials(path), f.trials(whole)
	if len(want) != trials {
		t.Errorf("%d trials; want %d", len(want), trials)
	}
	for id, n := range want {
		if got[id] != n {
			t.Errorf("trial %s: %d times; want %d", id, got[id], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d different trials; want %d", len(got), len(want))
	}
}

// trials counts the trials of an evaluation by their task and score.
func (f *fixture) trials(path string) map[string]int {
	f.t.Helper()
	counted := map[string]int{}
	lines := strings.Split(strings.TrimSpace(f.ask("GET", path+"/export.ndjson", "").body), "\n")
	for _, line := range lines[1:] {
		var trial struct {
			Task  string
			Trial int
			Score json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			f.t.Fatal(err)
		}
		counted[fmt.Sprint(trial.Task, trial.Trial, string(trial.Score))]++
	}
	return counted
}

// TestAScoreStreamOnAFullDisk has more scores than the server keeps in memory.
func TestAScoreStreamOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f := serve(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	var lines strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&lines, `{"group":"g%d","task_id":"arithmetic/restraint/4","text":""}`+"\n", i/8)
	}
	ask := func() answer {
		return f.ask("POST", "/v1/score/stream?normalization=batch", lines.String(), "Content-Type: application/x-ndjson")
	}
	restore := parts.LimitFiles(t, 100)
	wantFull(t, "the stream", ask(), dir)
	restore()
	if got := ask(); got.status != http.StatusOK || strings.Count(got.body, "\n") != 150_000 {
		t.Errorf("with space: %d, %d lines", got.status, strings.Count(got.body, "\n"))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "toolgym-score-*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestServersStartOnAFullDisk: a server that cannot open its database because the
// disk is full says so, and nothing is lost.
func TestServersStartOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	d := limited(t)
	config := api.Config{Data: d.data, Specs: tools.Specs{tallySpec(nil)}}
	f := serve(t, config)
	episode := f.begin("tally/endless/3")
	f.ask("POST", episode+"/calls", addOne)
	if err := f.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	free := d.full()
	if _, err := api.New(config); !refusal.Is(err, tools.Exhausted) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v; want that the disk is full", err)
	}
	free()
	config.Now = f.time
	if got := serve(t, config).ask("GET", episode, ""); got.status != http.StatusOK || !strings.Contains(got.body, `"step":1,`) {
		t.Errorf("the episode with space: %d %s", got.status, got.body)
	}
}
