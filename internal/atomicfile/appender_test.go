package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"toolgym/internal/atomicfile"
)

func TestAppenderContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var want []byte
	for session := range 3 {
		a := appender(t, path)
		for i := range 500 {
			line := fmt.Appendf(nil, "session %d, line %d\n", session, i)
			if n, err := a.Write(line); n != len(line) || err != nil {
				t.Fatal(n, err)
			}
			want = append(want, line...)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, len(want))
	}
}

func appender(t *testing.T, path string) *atomicfile.Appender {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	a, err := atomicfile.NewAppender(file)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestIsFull(t *testing.T) {
	for _, err := range []error{nil, io.ErrShortWrite, os.ErrNotExist, &os.PathError{Op: "write", Path: "f", Err: os.ErrPermission}} {
		if atomicfile.IsFull(err) {
			t.Errorf("IsFull(%v) = true", err)
		}
	}
	if !atomicfile.IsFull(errors.Join(os.ErrNotExist, fmt.Errorf("keeping: %w", atomicfile.ErrFull))) {
		t.Error("IsFull of an error that wraps ErrFull is false")
	}
}
