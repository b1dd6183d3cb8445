package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// promptMark begins a command of the README; what follows it, up to the end of
// the block or the next command, is what the command prints.
const promptMark = "$ go run ./cmd/toolgym "

// shown is a command in the README and its output there, where "…" stands for
// anything.
type shown struct{ command, output string }

// shownIn finds the commands in the console blocks of a Markdown text.
func shownIn(text string) []shown {
	var found []shown
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for i, part := range strings.Split("\n"+block[1], "\n"+promptMark) {
			if i == 0 {
				continue
			}
			command, output, _ := strings.Cut(part, "\n")
			found = append(found, shown{command, output})
		}
	}
	return found
}

// pattern is the output as a regular expression.
func (s shown) pattern() *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.TrimSpace(s.output))
	return regexp.MustCompile("^" + strings.ReplaceAll(quoted, "…", "(?s:.*)") + "$")
}

// TestReadmeCommands runs every command that the README shows, and compares
// what it prints with what stands there.
func TestReadmeCommands(t *testing.T) {
	t.Chdir("../..") // the commands are those of the repository's root
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := shownIn(string(text))
	if len(commands) < 3 {
		t.Fatalf("%d commands found in README.md", len(commands))
	}
	for _, s := range commands {
		t.Run(s.command, func(t *testing.T) {
			t.Setenv("XDG_DATA_HOME", t.TempDir())
			var out, errOut bytes.Buffer
			args, err := words(s.command)
			if err != nil {
				t.Fatal(err)
			}
			withModel(t, args)
			code := run(t.Context(), args, strings.NewReader(""), &out, &errOut)
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, errOut.String())
			}
			if got := strings.TrimSpace(out.String()); !s.pattern().MatchString(got) {
				t.Errorf("README.md shows\n%s\nand the command prints\n%s", s.output, got)
			}
		})
	}
}
