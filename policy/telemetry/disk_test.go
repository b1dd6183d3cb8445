//go:build linux

package telemetry

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk lets no file grow beyond a few kilobytes: what cannot be kept is
// an error, not a gap.
func TestFullDisk(t *testing.T) {
	f, err := Open(t.TempDir(), 0, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	for update := range 100 {
		if err = f.Write(record(update + 1)); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("writing ended with %v", err)
	}
	if err := f.Close(); err == nil {
		t.Error("closed as if all were kept")
	}
}
