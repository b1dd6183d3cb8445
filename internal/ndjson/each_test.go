package ndjson_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"toolgym/internal/goroutine"
	"toolgym/internal/ndjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers a line with its number, its length and its beginning.
func echo(to []byte, line ndjson.Line) []byte {
	return fmt.Appendf(to, "%d %d %t %.10s\n", line.Number, len(line.Text), line.TooLong, line.Text)
}

// fails answers a line whose answer panicked.
func fails(to []byte, line ndjson.Line, err error) []byte {
	return fmt.Appendf(to, "%d %v\n", line.Number, err)
}

func TestEachKeepsTheOrder(t *testing.T) {
	var in, want strings.Builder
	for i := 1; i <= 5000; i++ {
		text := strings.Repeat("x", i%700)
		in.WriteString(text + "\n")
		fmt.Fprintf(&want, "%d %d false %.10s\n", i, len(text), text)
	}
	for _, workers := range []int{0, 1, 7} {
		for name, reader := range map[string]io.Reader{
			"at once": strings.NewReader(in.String()), "in halves": iotest.HalfReader(strings.NewReader(in.String())),
		} {
			var out bytes.Buffer
			if err := ndjson.Each(t.Context(), reader, &out, workers, echo, fails); err != nil || out.String() != want.String() {
				t.Errorf("%d workers, %s: %d bytes, %v; want %d", workers, name, out.Len(), err, want.Len())
			}
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("y", ndjson.MaxLine)
	tests := []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"one without an end", "abc", "1 3 false abc\n"},
		{"an empty one", "\n", "1 0 false \n"},
		{"empty ones between", "a\n\n\nb\n", "1 1 false a\n2 0 false \n3 0 false \n4 1 false b\n"},
		{"a byte order mark", "\ufeffa\n\ufeffb\n", "1 1 false a\n2 4 false \ufeffb\n"},
		{"the end of another system", "a\r\n", "1 2 false a\r\n"},
		{"as long as may be", long + "\nb\n", fmt.Sprintf("1 %d false yyyyyyyyyy\n2 1 false b\n", len(long))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := ndjson.Each(t.Context(), strings.NewReader(test.in), &out, 2, echo, fails); err != nil || out.String() != test.want {
				t.Errorf("%q, %v; want %q", out.String(), err, test.want)
			}
		})
	}
	var out strings.Builder
	err := ndjson.Each(t.Context(), strings.NewReader("a\n"+long+"yy\nb\n"), &out, 2, echo, fails)
	if got := out.String(); err != nil || !strings.HasPrefix(got, "1 1 false a\n2 ") || !strings.Contains(got, " true yyyyyyyyyy\n3 1 false b\n") {
		t.Errorf("too long: %.100q, %v", got, err)
	}
}

// Who sends a line and waits is answered before sending the next.
func TestEachAnswersAtOnce(t *testing.T) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := ndjson.Each(t.Context(), in, out, 2, echo, fails)
		ended <- errors.Join(err, out.Close())
	}()
	for i := 1; i <= 3; i++ {
		if _, err := io.WriteString(to, "abc\n"); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d 3 false abc\n", i)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	if err := errors.Join(to.Close(), <-ended); err != nil {
		t.Error(err)
	}
}

func TestEachFails(t *testing.T) {
	broken := errors.New("broken")
	many := strings.Repeat("abc\n", 100_000)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context //nolint:containedctx // of one call
		in   io.Reader
		out  io.Writer
		want error
	}{
		{"a reader", t.Context(), io.MultiReader(strings.NewReader(many), iotest.ErrReader(broken)), io.Discard, broken},
		{"a writer", t.Context(), strings.NewReader(many), writer{broken}, broken},
		{"a context", canceled, strings.NewReader(many), io.Discard, context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := ndjson.Each(test.ctx, test.in, test.out, 2, echo, fails); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// writer fails.
type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

// A panic of the answer is the answer of its line; a panic of the reader, the
// writer or of failed ends Each with it.
func TestEachPanics(t *testing.T) {
	answer := func(to []byte, line ndjson.Line) []byte {
		if string(line.Text) == "bad" {
			panic("a defect")
		}
		return echo(append(to, "partial"...)[:len(to)], line)
	}
	var out bytes.Buffer
	if err := ndjson.Each(t.Context(), strings.NewReader("a\nbad\nb\n"), &out, 2, answer, fails); err != nil {
		t.Fatal(err)
	}
	if want := "1 1 false a\n2 panic: a defect\n3 1 false b\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	failing := func([]byte, ndjson.Line, error) []byte { panic("a defect") }
	for name, run := range map[string]func() error{
		"reader": func() error { return ndjson.Each(t.Context(), panics{}, io.Discard, 2, echo, fails) },
		"writer": func() error {
			return ndjson.Each(t.Context(), strings.NewReader(strings.Repeat("abc\n", 100_000)), panics{}, 2, echo, fails)
		},
		"failed": func() error {
			return ndjson.Each(t.Context(), strings.NewReader("bad\n"), io.Discard, 2, answer, failing)
		},
	} {
		if p := (*goroutine.PanicError)(nil); !errors.As(run(), &p) || p.Value != "a defect" {
			t.Errorf("%s: got no panic error", name)
		}
	}
}

// panics is a reader and a writer that panic.
type panics struct{}

func (panics) Read([]byte) (int, error)  { panic("a defect") }
func (panics) Write([]byte) (int, error) { panic("a defect") }
