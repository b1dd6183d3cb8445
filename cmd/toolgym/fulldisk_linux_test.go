package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolgym/internal/parts"
)

// succeed runs a command that must succeed.
func succeed(t *testing.T, args ...string) {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errOut); code != exitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, errOut.String())
	}
}

// evalArgs are the arguments of an evaluation of an agent.
func evalArgs(data, run string) []string {
	return []string{"--data", data, "eval", "--route", "agent", "--model", "random", "--level", "0", "-n", "3", "--run", run}
}

// TestResultsOnAFullDisk writes the results of each command to the device that is
// always full.
func TestResultsOnAFullDisk(t *testing.T) {
	data := t.TempDir()
	succeed(t, evalArgs(data, "one")...)
	succeed(t, evalArgs(data, "two")...)
	learnt := filepath.Join(data, "learnt")
	succeed(t, "skills", "learn", "--rules", "documented", "--out", learnt)
	checkpoint := filepath.Join(data, "trained", checkpointName)
	succeed(t, "train", "--stages", "0", "--updates", "1", "--out", filepath.Dir(checkpoint))
	const line = `{"group":"g","env":"arithmetic","level":"0","seed":1,"completion":"<tool_call>{\"name\":\"done\",\"arguments\":{}}</tool_call>"}`
	for _, command := range [][]string{
		{"version"}, {"--help"}, {"envs"}, {"tasks", "arithmetic"}, {"explain", checkpoint}, {"parse"}, {"score"}, {"audit"}, {"play", "arithmetic"},
		{"skills", "list", "--out", learnt}, {"skills", "plot", "--out", learnt}, {"skills", "learn", "--episodes", "1"}, {"token", "ann", "play"}, {"export", "trl"},
		{"train", "--stages", "0", "--updates", "1", "--out", filepath.Join(data, "run")}, {"train", "--stages", "0", "--updates", "1", "--json", "--out", filepath.Join(data, "json")},
		evalArgs(data, "three"), {"--data", data, "runs"}, {"--data", data, "runs", "export", "one", "-"}, {"--data", data, "runs", "rescore", "one"},
		{"--data", data, "report", "one"}, {"--data", data, "compare", "one", "two"},
	} {
		t.Run(strings.ReplaceAll(strings.Join(command, " "), data, "DATA"), func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = full.Close() }()
			var errOut bytes.Buffer
			code := run(t.Context(), command, strings.NewReader(line+"\n"), full, &errOut)
			if code != exitOutside || !strings.Contains(errOut.String(), "/dev/full: no space left on device") {
				t.Errorf("exit code %d, %q; want %d and that there is no space on /dev/full", code, errOut.String(), exitOutside)
			}
		})
	}
}

// outputs are commands that write to files in a directory. Those that read the
// database in data are left out when it is empty.
func outputs(dir, data string) [][]string {
	var list [][]string
	if data != "" {
		list = [][]string{
			{"--data", data, "report", "one", "--format", "html", "-o", filepath.Join(dir, "report.html")},
			{"--data", data, "runs", "export", "one", filepath.Join(dir, "one.ndjson")},
		}
	}
	return append(list, [][]string{
		{"export", "trl", "-o", filepath.Join(dir, "script.py")},
		{"skills", "learn", "--rules", "documented", "--out", dir},
		{"token", "ann", "play", "--file", filepath.Join(dir, "tokens")},
		{"train", "--stages", "0", "--updates", "1", "--out", filepath.Join(dir, "run")},
		append([]string{"--data", filepath.Join(dir, "data")}, evalArgs("", "one")[2:]...),
	}...)
}

// onAFullDisk runs the commands, and returns the files that they leave in the
// directory.
func onAFullDisk(t *testing.T, dir, data, reason string) (left []string) {
	t.Helper()
	for _, command := range outputs(dir, data) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), command, strings.NewReader(""), &out, &errOut)
		if code != exitOutside || !regexp.MustCompile(reason).MatchString(errOut.String()) || !strings.Contains(errOut.String(), dir) {
			t.Errorf("%v: exit code %d, %q; want %d, the file, and %s", command, code, errOut.String(), exitOutside, reason)
		}
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if info, statErr := os.Stat(path); statErr == nil && !entry.IsDir() && info.Size() > 0 {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return left
}

// TestOutputsOnAFullDisk writes files while no file can be written, and afterwards.
func TestOutputsOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	restore := parts.LimitFiles(t, 1)
	for _, path := range onAFullDisk(t, dir, "", "file too large|no space left on device|disk is full") {
		if !strings.HasPrefix(filepath.Base(path), "toolgym.db") {
			t.Errorf("%s is left", path)
		}
	}
	restore()
	for _, command := range outputs(dir, "") {
		succeed(t, command...)
	}
}

// TestOutputsOnASmallFileSystem is the same on a real file system that is full.
func TestOutputsOnASmallFileSystem(t *testing.T) {
	dir, data := parts.SmallDisk(t, "size=16m"), t.TempDir()
	succeed(t, evalArgs(data, "one")...)
	filler := filepath.Join(dir, "filler")
	file, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range onAFullDisk(t, dir, data, "no space left on device|disk is full") {
		if path != filler {
			t.Errorf("%s is left", path)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for _, command := range outputs(dir, data) {
		succeed(t, command...)
	}
}

// A limiter lets no file grow after some lines were written to it.
type limiter struct {
	io.Writer
	lines int
	limit func()
}

func (l *limiter) Write(text []byte) (int, error) {
	if l.lines -= bytes.Count(text, []byte("\n")); l.lines <= 0 && l.limit != nil {
		l.limit()
		l.limit = nil
	}
	return l.Writer.Write(text)
}

// TestTrainOnAFullDisk stops in the middle, says how to resume, and has the outcome
// of a run that was not stopped.
func TestTrainOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	whole, halted := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	args := func(dir string) []string {
		return []string{"train", "--stages", "0", "--updates", "120", "--json", "--out", dir}
	}
	succeed(t, args(whole)...)
	var errOut bytes.Buffer
	var restore func()
	out := &limiter{Writer: io.Discard, lines: 70, limit: func() { restore = parts.LimitFiles(t, 0) }}
	code := run(t.Context(), args(halted), strings.NewReader(""), out, &errOut)
	restore()
	if code != exitOutside || !strings.Contains(errOut.String(), halted) || !strings.Contains(errOut.String(), "file too large") ||
		!strings.Contains(errOut.String(), "toolgym train --resume "+quote(halted)) {
		t.Errorf("exit code %d, %q; want %d, the file, the reason and how to resume", code, errOut.String(), exitOutside)
	}
	succeed(t, "train", "--resume", halted)
	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(regexp.MustCompile(`"(updates_per_second|cpu_s)":[0-9.e+-]+`).ReplaceAll(text, nil))
	}
	for _, name := range []string{"policy.safetensors", "policy.json", "telemetry.jsonl"} {
		if read(whole, name) != read(halted, name) {
			t.Errorf("%s differs from that of a run that was not stopped", name)
		}
	}
	if entries, err := filepath.Glob(filepath.Join(halted, ".*")); err != nil || len(entries) > 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}

// TestScoreSpillsToAFullDisk spills to a directory for temporary files that has no room.
func TestScoreSpillsToAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	restore := parts.LimitFiles(t, 100)
	var errOut bytes.Buffer
	code := run(t.Context(), []string{"score"}, &lines{n: 150_000}, io.Discard, &errOut)
	restore()
	if code != exitOutside || !strings.Contains(errOut.String(), filepath.Join(dir, "toolgym-score-")) || !strings.Contains(errOut.String(), "file too large") {
		t.Errorf("exit code %d, %.300q; want %d, the file and the reason", code, errOut.String(), exitOutside)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
}
