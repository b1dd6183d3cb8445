package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/atomicfile"
	"toolgym/internal/parts"
)

// TestAppenderOnAFullDisk writes up to a limit within a line, and on when there is
// room again.
func TestAppenderOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "file")
	a := appender(t, path)
	restore := parts.LimitFiles(t, 10_000)
	line := strings.Repeat("x", 99) + "\n"
	failed := 0
	for range 200 {
		if _, err := a.Write([]byte(line)); atomicfile.IsFull(err) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || failed == 0 || len(got) == 0 || len(got)%len(line) != 0 {
		t.Errorf("%d writes failed; the file has %d bytes, %v; want whole lines", failed, len(got), err)
	}
	if err := a.Flush(); !atomicfile.IsFull(err) {
		t.Errorf("got %v; want an error of a full disk", err)
	}
	restore()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != strings.Repeat(line, 200) {
		t.Errorf("the file has %d bytes, %v; want %d", len(got), err, 200*len(line))
	}
}

// TestWriteOnAFullDisk uses the limit, and the device that is always full.
func TestWriteOnAFullDisk(t *testing.T) {
	if parts.OwnProcess(t) {
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := atomicfile.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	restore := parts.LimitFiles(t, 1000)
	if err := atomicfile.Write(path, make([]byte, 2000)); !atomicfile.IsFull(err) {
		t.Errorf("got %v; want an error of a full disk", err)
	}
	restore()
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("got %q, %v; want the old content", got, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v; want 1", len(entries), err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	if _, err := full.WriteString("x"); !atomicfile.IsFull(err) {
		t.Errorf("/dev/full: got %v; want an error of a full disk", err)
	}
}
