package training_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolgym/api/training"
	"toolgym/internal/atomicfile"
	"toolgym/internal/parts"
	"toolgym/internal/quota"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// open opens the runs of a folder. The clock stands still, so that records are the
// same each time.
func open(t *testing.T, dir string, retry time.Duration) *training.Runs {
	t.Helper()
	ids := 0
	runs, err := training.Open(training.Config{Specs: tools.Specs{arithmetic.Spec()}, Dir: dir, Retry: retry,
		Busy: quota.Limits{All: 2, Each: 2}, Kept: quota.Limits{All: 9, Each: 9}, Logger: slog.New(slog.DiscardHandler),
		Now:   func() time.Time { return time.Unix(1_700_000_000, 0) },
		NewID: func() string { ids++; return fmt.Sprint("run", ids) }})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

const updates = 30

// start starts the run that these tests interrupt.
func start(runs *training.Runs) (*training.Run, error) {
	return runs.Start("", training.Start{Algo: "grpo", Stages: []string{"0"}, Seed: 1, Updates: updates})
}

func mustStart(t *testing.T, runs *training.Runs) *training.Run {
	t.Helper()
	run, err := start(runs)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// held is a run that is held before its end.
func held(t *testing.T, runs *training.Runs) *training.Run {
	t.Helper()
	for {
		run := mustStart(t, runs)
		if err := run.Hold(); err == nil && run.State().Updates < updates {
			return run
		}
		await(t, run, done) // this machine paused the test for so long
		if err := runs.Cancel(run); err != nil {
			t.Fatal(err)
		}
	}
}

// await waits until a run is in a state.
func await(t *testing.T, run *training.Run, want func(training.State) bool) training.State {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		state := run.State()
		if want(state) {
			return state
		}
		if state.State == training.Failed || time.Now().After(deadline) {
			t.Fatalf("the run is %s: %q", state.State, state.Error)
		}
	}
}

func pausedByTheDisk(s training.State) bool {
	return s.State == training.Paused && strings.Contains(s.Error, "disk")
}

func done(s training.State) bool { return s.State == training.Done }

// outcome is what a run has made: its weights, the state to resume from without the
// CPU time, the records and the events.
func outcome(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(regexp.MustCompile(`"cpu_s": ?[0-9.e-]+|"id": ?"run\d+"`).ReplaceAll(text, nil))
	}
	return files
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("the file %s is left", name)
		}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of the run without a full disk: %d and %d bytes", name, len(got[name]), len(want[name]))
		}
	}
}

// undisturbed is the outcome of the run when the disk is not full.
func undisturbed(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	runs := open(t, dir, 0)
	await(t, mustStart(t, runs), done)
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
	return outcome(t, filepath.Join(dir, "run1"))
}

// TestAFullDiskPausesARun fills the disk while a run trains. It is paused with the
// reason, and continues with the same outcome to the byte: by itself when Retry is
// short, and otherwise when it is resumed.
func TestAFullDiskPausesARun(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	want := undisturbed(t)
	for _, size := range []uint64{0, 100, 2000, 6000, 20_000} {
		for name, retry := range map[string]time.Duration{"resumed": time.Hour, "by itself": time.Millisecond} {
			t.Run(fmt.Sprintf("%d bytes, %s", size, name), func(t *testing.T) {
				dir := t.TempDir()
				runs := open(t, dir, retry)
				run := held(t, runs)
				folder := filepath.Join(dir, run.State().ID)
				restore := parts.LimitFiles(t, size)
				if err := runs.Release(run); err != nil {
					t.Fatal(err)
				}
				await(t, run, pausedByTheDisk)
				if _, err := train.Resume(tools.Specs{arithmetic.Spec()}, run.Checkpoint(), 0); err != nil {
					t.Errorf("the last checkpoint cannot be used: %v", err)
				}
				if text, err := os.ReadFile(filepath.Join(folder, "telemetry.jsonl")); err != nil || len(text) > 0 && !bytes.HasSuffix(text, []byte("}\n")) {
					t.Errorf("the telemetry has a part of a line: %.40q, %v", text[max(0, len(text)-40):], err)
				}
				if retry == time.Hour {
					if err := runs.Release(run); err != nil { // the disk is still full
						t.Fatal(err)
					}
					await(t, run, pausedByTheDisk)
				}
				restore()
				if retry == time.Hour {
					if err := runs.Release(run); err != nil {
						t.Fatal(err)
					}
				}
				if state := await(t, run, done); state.Error != "" || state.Updates != updates || len(run.Records()) != updates {
					t.Errorf("%+v, %d records", state, len(run.Records()))
				}
				if err := runs.Close(); err != nil {
					t.Fatal(err)
				}
				same(t, outcome(t, folder), want)
			})
		}
	}
}

// TestAServerEndsOnAFullDisk: the next one resumes the run from its checkpoint, with
// the same outcome.
func TestAServerEndsOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	want := undisturbed(t)
	dir := t.TempDir()
	runs := open(t, dir, time.Hour)
	run := held(t, runs)
	id := run.State().ID
	restore := parts.LimitFiles(t, 2000)
	if err := runs.Release(run); err != nil {
		t.Fatal(err)
	}
	await(t, run, pausedByTheDisk)
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
	restore()
	runs = open(t, dir, 0)
	run, err := runs.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if state := run.State(); state.State != training.Paused || state.Error != "" {
		t.Errorf("found %+v; want it paused", state)
	}
	if err := runs.Release(run); err != nil {
		t.Fatal(err)
	}
	await(t, run, done)
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
	got := outcome(t, filepath.Join(dir, id))
	for _, name := range []string{"policy.safetensors", "policy.json", "telemetry.jsonl"} {
		if got[name] != want[name] {
			t.Errorf("%s differs from that of the run without a full disk", name)
		}
	}
}

// TestStartOnAFullDisk leaves no folder, no row of the list and no slot in use.
func TestStartOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	runs := open(t, dir, 0)
	for _, size := range []uint64{0, 1, 2500, 9000} {
		restore := parts.LimitFiles(t, size)
		_, err := start(runs)
		restore()
		if !atomicfile.IsFull(err) {
			t.Errorf("%d bytes: got %v; want an error of a full disk", size, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || len(runs.List()) > 0 || runs.Busy() > 0 {
			t.Errorf("%d bytes: %d files, %d runs listed and %d under way are left, %v", size, len(entries), len(runs.List()), runs.Busy(), err)
		}
	}
	await(t, mustStart(t, runs), done)
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCancelOnAFullDisk: a run that waits for space can be cancelled and deleted.
func TestCancelOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	runs := open(t, dir, time.Hour)
	run := held(t, runs)
	restore := parts.LimitFiles(t, 100)
	if err := runs.Release(run); err != nil {
		t.Fatal(err)
	}
	await(t, run, pausedByTheDisk)
	if err := runs.Cancel(run); err != nil {
		t.Fatal(err)
	}
	if state := run.State(); state.State != training.Cancelled || state.Error != "" {
		t.Errorf("cancelled: %+v", state)
	}
	if err := runs.Cancel(run); err != nil {
		t.Fatal(err)
	}
	restore()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOtherErrorsFailARun: only a full disk pauses it.
func TestOtherErrorsFailARun(t *testing.T) {
	dir := t.TempDir()
	runs := open(t, dir, time.Hour)
	run := held(t, runs)
	if err := os.Remove(run.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(run.Checkpoint(), "in the way"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := runs.Release(run); err != nil {
		t.Fatal(err)
	}
	await(t, run, func(s training.State) bool { return s.State == training.Failed && s.Error != "" })
	if err := runs.Close(); err != nil {
		t.Fatal(err)
	}
}
