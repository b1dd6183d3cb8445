package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
)

// open opens what FILE names, "-" being standard input. A read of it fails when
// the context ends.
func (w *console) open(ctx context.Context, path string) (io.ReadCloser, error) {
	if path == "-" {
		return interruptible(ctx, w.in), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable("FILE", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // nothing was written to it
		return nil, unreadable("FILE", fmt.Errorf("%s is a directory", path))
	}
	return file, nil
}

func unreadable(where string, err error) error {
	return refusal.New(where, "a file that can be read", "%v", err)
}

// What a file that a flag names may have, in bytes.
const (
	mostSettings = 16 << 20
	mostSuite    = 1 << 30
)

// ofOllama says in a mistake in the address of a server which flag that is.
func ofOllama(err error) error {
	return refusal.Relocate(err, func(where string) string {
		if where == "url" {
			return "--ollama"
		}
		return where
	})
}

// readFile reads a file of settings that a flag names.
func readFile(flag, path string) ([]byte, error) {
	text, err := readUpTo(path, mostSettings)
	if err != nil {
		return nil, unreadable(flag, err)
	}
	return text, nil
}

// readUpTo reads a file of at most so many bytes. One that has no end, such as
// /dev/zero, is larger.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	_ = file.Close() // nothing was written to it
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return text, err
}

// interruptible makes the reads of in fail when the context ends. What a
// terminal or a pipe owes cannot be called off: the goroutine that waits for it
// ends with the process.
func interruptible(ctx context.Context, in io.Reader) io.ReadCloser {
	ours, theirs := io.Pipe()
	release := context.AfterFunc(ctx, func() { _ = theirs.CloseWithError(ctx.Err()) }) // never fails
	var left sync.WaitGroup
	goroutine.Go(&left, func() {
		defer release()
		_, err := io.Copy(theirs, in)
		_ = theirs.CloseWithError(err) // never fails; nil is the end of the file
	}, func(err error) { _ = theirs.CloseWithError(err) })
	return ours
}
