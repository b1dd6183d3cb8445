package main

import (
	"bytes"
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

// TestHiddenCharactersAreShown: what a terminal would obey, or what turns the
// text around it, is shown in tables, results and errors.
func TestHiddenCharactersAreShown(t *testing.T) {
	const bad = "a\x1b[2J\u202eb\tc\nd"
	var out bytes.Buffer
	world := &console{out: &out}
	if err := world.printTable([]string{"RUN"}, [][]string{{bad}}); err != nil {
		t.Fatal(err)
	}
	if err := world.printf("%s\n", bad); err != nil {
		t.Fatal(err)
	}
	report(&out, errors.New(bad))
	for _, want := range []string{"RUN\na␛[2J⟨U+202E⟩b␉c␊d\n", "a␛[2J⟨U+202E⟩b\tc\nd\n", "toolgym: a␛[2J⟨U+202E⟩b␉c d\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is without %q", out.String(), want)
		}
	}
}
