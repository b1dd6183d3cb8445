package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"toolgym/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := atomicfile.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("got %q, %v; want %q", got, err, content)
		}
	}
}

func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := atomicfile.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.WriteFrom(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half of the n"); err != nil {
			return err
		}
		return io.ErrShortWrite
	})
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v; want the error of fill", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("got %q, %v; want the old content", got, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v; want 1", len(entries), err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "missing", "file"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v; want an error for a folder that does not exist", err)
	}
}
