package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
)

// scoreLine is a line of a scoring file.
func scoreLine(group int, text string) string {
	return fmt.Sprintf(`{"group":"g%d","task_id":"arithmetic/restraint/4","text":%q}`+"\n", group, text)
}

// A started command and what it is connected to.
type started struct {
	in   *io.PipeWriter
	out  *bufio.Reader
	quit func() error // closes out
	stop context.CancelFunc
	code chan int
	err  bytes.Buffer // to be read after code
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	in, to := io.Pipe()
	from, out := io.Pipe()
	s := &started{in: to, out: bufio.NewReader(from), quit: from.Close, stop: stop, code: make(chan int, 1)}
	go func() {
		code := run(ctx, args, in, out, &s.err)
		_ = out.Close() // a pipe's writer closes without an error
		s.code <- code
	}()
	return s
}

func (s *started) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.in, line); err != nil {
		t.Fatal(err)
	}
}

// Ctrl-C while the input is still open: what was answered is whole, and the
// message says how to go on.
func TestScoreIsInterrupted(t *testing.T) {
	s := start(t, "score", "--grouped")
	for i := range 3 {
		s.say(t, scoreLine(i, "Hello."))
	}
	for range 2 {
		if line, err := s.out.ReadString('\n'); err != nil || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	s.stop()
	if code := <-s.code; code != exitOutside || !strings.Contains(s.err.String(), "2 lines are written and whole; go on with tail -n +3 FILE") {
		t.Errorf("exit code %d, %q", code, s.err.String())
	}
}

func TestScoreIsInterruptedAtOnce(t *testing.T) {
	s := start(t, "score")
	s.say(t, scoreLine(1, "Hello."))
	s.stop()
	if code := <-s.code; code != exitOutside || !strings.Contains(s.err.String(), "interrupted before anything was written") || strings.Count(s.err.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q", code, s.err.String())
	}
}

// A reader that has enough ends the command, whose input is still open, without
// a complaint.
func TestResultsThatNobodyReads(t *testing.T) {
	tests := []struct {
		name, line string
		args       []string
	}{
		{"score", scoreLine(1, "Hello.") + scoreLine(2, "Hello."), []string{"score", "--grouped"}},
		{"parse", `{"text":"Hello."}` + "\n", []string{"parse", "--jsonl"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, test.args...)
			s.say(t, test.line)
			if _, err := s.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := s.quit(); err != nil {
				t.Fatal(err)
			}
			var sending sync.WaitGroup
			sending.Go(func() {
				for {
					if _, err := io.WriteString(s.in, test.line); err != nil {
						return
					}
				}
			})
			if code := <-s.code; code != exitDone || s.err.Len() > 0 {
				t.Errorf("exit code %d, %q", code, s.err.String())
			}
			_ = s.in.Close() // a pipe's writer closes without an error
			sending.Wait()
			s.stop()
		})
	}
}

// fullDisk takes some bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(text []byte) (int, error) {
	if d.left -= len(text); d.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(text), nil
}

func TestScoreOnAFullDisk(t *testing.T) {
	var errOut bytes.Buffer
	input := strings.Repeat(scoreLine(1, "Hello.")+scoreLine(2, "Hello."), 500)
	code := run(t.Context(), []string{"score", "--grouped"}, strings.NewReader(input), &fullDisk{200_000}, &errOut)
	if want := "toolgym: writing results: no space left on device\n"; code != exitOutside || errOut.String() != want {
		t.Errorf("exit code %d, %q; want %q", code, errOut.String(), want)
	}
}

// lines makes a file of n lines without holding it.
type lines struct {
	n, made int
	rest    string
}

func (l *lines) Read(to []byte) (int, error) {
	if l.rest == "" && l.made == l.n {
		return 0, io.EOF
	}
	if l.rest == "" {
		l.rest = scoreLine(l.made/8, "You are welcome.")
		l.made++
	}
	n := copy(to, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// live is what the last collection found alive, in bytes.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// heapPeak counts lines, and looks at the heap now and then.
type heapPeak struct {
	lines, writes int
	bytes         uint64
}

func (p *heapPeak) Write(text []byte) (int, error) {
	p.lines += bytes.Count(text, []byte("\n"))
	if p.writes++; p.writes%16 == 0 {
		p.bytes = max(p.bytes, live())
	}
	return len(text), nil
}

// The memory does not grow with the file: its answers are some 70 MB.
func TestScoreInBoundedMemory(t *testing.T) {
	const n, limit = 60_000, 16 << 20
	runtime.GC() // what other tests have left is not ours
	before := live()
	var out heapPeak
	var errOut bytes.Buffer
	if code := run(t.Context(), []string{"score", "--grouped"}, &lines{n: n}, &out, &errOut); code != exitDone || out.lines != n {
		t.Fatalf("exit code %d, %d lines: %s", code, out.lines, errOut.String())
	}
	if out.bytes > before+limit {
		t.Errorf("%d bytes were alive, %d before; want at most %d more", out.bytes, before, limit)
	}
}

// A line may have 50 MB; it is scored like any other, in its place.
func TestScoreLinesOf50MB(t *testing.T) {
	var out, errOut bytes.Buffer
	input := scoreLine(1, "Hello.") + scoreLine(1, strings.Repeat("x", 50<<20)) + scoreLine(1, "Hello.")
	if code := run(t.Context(), []string{"score"}, strings.NewReader(input), &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	if n := strings.Count(out.String(), `"reward":5.45,"valid":true`); n != 3 {
		t.Errorf("%d of 3 lines are scored: %.300s", n, out.String())
	}
}
