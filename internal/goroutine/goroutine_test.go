package goroutine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"toolgym/internal/goroutine"
)

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name string
		f    func() error
		want string // "" means no error
		is   error
	}{
		{name: "no error", f: func() error { return nil }},
		{name: "error", f: func() error { return io.EOF }, want: "EOF", is: io.EOF},
		{name: "panic", f: func() error { panic("a defect") }, want: "panic: a defect"},
		{name: "panic with an error", f: func() error { panic(io.EOF) }, want: "panic: EOF", is: io.EOF},
		{name: "runtime error", f: func() error { _ = outside([]int{1}, 3); return nil }, want: "panic: runtime error: index out of range [3] with length 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := goroutine.Run(test.f)
			if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("got error %v; want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
		})
	}
}

func TestGoRecovers(t *testing.T) {
	var (
		group  sync.WaitGroup
		others int
		failed error
	)
	goroutine.Go(&group, func() { panic("a defect") }, func(err error) { failed = err })
	group.Wait()
	goroutine.Go(&group, func() { others++ }, func(err error) { t.Errorf("failed called without a panic: %v", err) })
	group.Wait()
	p, ok := errors.AsType[*goroutine.PanicError](failed)
	if !ok || p.Value != "a defect" {
		t.Fatalf("got %v; want the panic", failed)
	}
	if others != 1 {
		t.Error("the next goroutine did not run")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("run failed", "run", "r1", "panic", p)
	for _, part := range []string{"panic.value=\"a defect\"", "goroutine_test.go", "run=r1"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("log record %q does not contain %q", log.String(), part)
		}
	}
}

func TestAttr(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want []string
	}{
		{"error", io.EOF, []string{"error=EOF"}},
		{"nil", nil, []string{"error=<nil>"}},
		{"wrapped panic", fmt.Errorf("playing: %w", goroutine.Run(func() error { panic("a defect") })),
			[]string{"error.message=\"playing: panic: a defect\"", "error.stack=", "goroutine_test.go"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).LogAttrs(t.Context(), slog.LevelError, "run failed", goroutine.Attr(test.err))
			for _, part := range test.want {
				if !strings.Contains(log.String(), part) {
					t.Errorf("log record %q does not contain %q", log.String(), part)
				}
			}
		})
	}
}

func outside(list []int, i int) int { return list[i] }
