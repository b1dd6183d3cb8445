package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"toolgym/internal/atomicfile"
	"toolgym/internal/refusal"
)

// dataDir is the directory of --data, or the user's own; it is made if it is
// not there, and a directory that cannot be written is refused at once.
func (w *console) dataDir() (string, error) {
	dir := w.data
	if dir == "" {
		base, err := userData()
		if err != nil {
			return "", refusal.New("--data", "a directory given with --data", "%v", err)
		}
		dir = filepath.Join(base, "toolgym")
	}
	refuse := func(err error) error {
		return unwritable("--data", "a directory that can be written", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", refuse(err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return "", refuse(err)
	}
	if err := probe.Close(); err != nil {
		return "", refuse(err)
	}
	if err := os.Remove(probe.Name()); err != nil {
		return "", refuse(err)
	}
	return dir, nil
}

// keptDir is dataDir for a command that reads what is kept: a directory that --data
// names must exist.
func (w *console) keptDir() (string, error) {
	if w.data != "" {
		if _, err := os.Stat(w.data); err != nil {
			return "", refusal.New("--data", "a directory that exists", "%v", err)
		}
	}
	return w.dataDir()
}

// unwritable is the error for a file or directory that cannot be written: a mistake
// of the caller's, unless the disk is full.
func unwritable(where, want string, err error) error {
	if atomicfile.IsFull(err) {
		return fmt.Errorf("%s: %w", where, err)
	}
	return refusal.New(where, want, "%v", err)
}

// userData is where this system keeps a program's data.
func userData() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return dir, nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home directory: %w", err)
	}
	return filepath.Join(home, ".local", "share"), nil
}
