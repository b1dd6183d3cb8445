package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A screen is a terminal that somebody watches: what a program wrote there, as
// it stands in the end. It knows what a progress bar does: to go up some lines,
// and to erase from there.
type screen struct {
	lines []string
	row   int
}

// watched opens a terminal; show, to be called once the program has ended, gives
// its screen.
func watched(t *testing.T) (terminal *os.File, show func() []string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("a terminal cannot be made: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 80}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan string, 1)
	go func() {
		text, err := io.ReadAll(master)
		if err != nil && !errors.Is(err, syscall.EIO) { // which is its end
			text = append(text, err.Error()...)
		}
		written <- string(text)
	}()
	return terminal, func() []string {
		if err := terminal.Close(); err != nil {
			t.Error(err)
		}
		text := <-written
		if err := master.Close(); err != nil {
			t.Error(err)
		}
		s := screen{lines: []string{""}}
		s.draw(text)
		return s.lines
	}
}

func (s *screen) draw(text string) {
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' }) + 2
			count, _ := strconv.Atoi(text[2:end])
			switch text[end] {
			case 'A':
				s.row = max(0, s.row-max(1, count))
			case 'J':
				s.lines = append(s.lines[:s.row:s.row], "")
			}
			text = text[end+1:]
		case text[0] == '\n':
			if s.row++; s.row == len(s.lines) {
				s.lines = append(s.lines, "")
			}
			text = text[1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			s.lines[s.row] += text[:1]
			text = text[1:]
		}
	}
}

// A bar that is drawn on the terminal where the results appear erases none of
// them, and is gone in the end.
func TestSkillsOnATerminal(t *testing.T) {
	const episodes = 20
	terminal, show := watched(t)
	code := run(context.Background(), []string{"skills", "learn", "--level", "2", "--episodes", strconv.Itoa(episodes)}, strings.NewReader(""), terminal, terminal)
	lines := show()
	if code != exitDone {
		t.Fatalf("exit code %d: %q", code, lines)
	}
	for n := range episodes {
		if at := n; !strings.HasPrefix(lines[at], fmt.Sprintf("episode %d ", n+1)) {
			t.Fatalf("line %d is %q; the screen:\n%s", at, lines[at], strings.Join(lines, "\n"))
		}
	}
	if rest := lines[episodes:]; len(rest) != 2 || !strings.HasPrefix(rest[0], `{"median_decisions"`) || rest[1] != "" {
		t.Errorf("behind the episodes stands %q", rest)
	}
}

func TestTerminals(t *testing.T) {
	terminal, show := watched(t)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		out  io.Writer
		want bool
	}{
		"a terminal": {terminal, true}, "results on a terminal": {&pipe{Writer: terminal}, true}, "the null device": {null, false}, "results nowhere": {&pipe{Writer: null}, false}, "a text": {&strings.Builder{}, false},
	} {
		if got := isTerminal(test.out); got != test.want {
			t.Errorf("%s is a terminal: %v", name, got)
		}
	}
	t.Setenv("TERM", "dumb")
	if isTerminal(terminal) {
		t.Error("a dumb terminal is one")
	}
	show()
	if err := null.Close(); err != nil {
		t.Error(err)
	}
}

// A table that is wider than the terminal is folded in its last column; one that
// goes to a file never is.
func TestTablesOnATerminal(t *testing.T) {
	terminal, show := watched(t)
	if code := run(context.Background(), []string{"envs"}, strings.NewReader(""), terminal, terminal); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	folded := show()
	for _, line := range folded {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%q is wider than 80 columns", line)
		}
	}
	var wide strings.Builder
	if code := run(context.Background(), []string{"envs"}, strings.NewReader(""), &wide, io.Discard); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if lines := strings.Count(wide.String(), "\n"); lines != 4 || len(folded) <= lines+1 {
		t.Errorf("%d lines elsewhere, on the terminal\n%s", lines, strings.Join(folded, "\n"))
	}
	if diff := cmp.Diff(slices.Sorted(strings.FieldsSeq(wide.String())), slices.Sorted(strings.FieldsSeq(strings.Join(folded, "\n")))); diff != "" {
		t.Error(diff)
	}
}
