package atomicfile_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolgym/internal/atomicfile"
)

// limitFiles lets no file grow beyond a size until the function that it returns is
// called: writes fail with EFBIG, which needs no root.
func limitFiles(t *testing.T, size uint64) (restore func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	restore = func() { set(old) }
	t.Cleanup(func() {
		restore()
		signal.Reset(syscall.SIGXFSZ)
	})
	set(syscall.Rlimit{Cur: size, Max: old.Max})
	return restore
}

// TestAppenderOnAFullDisk writes up to a limit within a line, and on when there is
// room again.
func TestAppenderOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	a := appender(t, path)
	restore := limitFiles(t, 10_000)
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
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := atomicfile.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	restore := limitFiles(t, 1000)
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
