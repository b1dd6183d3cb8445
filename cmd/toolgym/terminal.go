package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether somebody watches what is written there. The
// results' pipe is looked through; the null device, which is a character device
// as terminals are, is none.
func isTerminal(out io.Writer) bool {
	if results, ok := out.(pipe); ok {
		out = results.Writer
	}
	file, ok := out.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(file.Fd())
}
