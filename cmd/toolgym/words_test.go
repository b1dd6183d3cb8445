package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"toolgym/internal/ollamatest"
)

// words splits a command line at spaces outside of single quotes.
func words(line string) ([]string, error) {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	if strings.Count(line, "'")%2 == 1 {
		return nil, errors.New("a quote is not closed: " + line)
	}
	return out, nil
}

// withModel lets a command that names an Ollama server talk to the test's own,
// with the tiny model; the test is skipped where there is none.
func withModel(t *testing.T, args []string) {
	t.Helper()
	if i := slices.Index(args, "--ollama"); i >= 0 {
		args[i+1] = ollamatest.Start(t).URL
	}
}
