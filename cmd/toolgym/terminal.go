package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal is the file descriptor behind an output that somebody watches. The
// results' pipe is looked through; the null device, which is a character device
// as terminals are, is none.
func terminal(out io.Writer) (descriptor int, ok bool) {
	if results, ok := out.(*pipe); ok {
		out = results.Writer
	}
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	descriptor = int(file.Fd())
	return descriptor, term.IsTerminal(descriptor)
}

// isTerminal reports whether somebody watches.
func isTerminal(out io.Writer) bool {
	_, ok := terminal(out)
	return ok
}

// columns is how wide a terminal is, and 0 for what is none.
func columns(out io.Writer) int {
	descriptor, ok := terminal(out)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(descriptor)
	if err != nil {
		return 0
	}
	return width
}
