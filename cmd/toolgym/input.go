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

// readFile reads a file of settings that a flag names.
func readFile(flag, path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(flag, err)
	}
	return text, nil
}

// interruptible makes the reads of in fail when the context ends. What a
// terminal or a pipe owes can not be called off: the goroutine that waits for it
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
