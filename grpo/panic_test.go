package grpo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"toolgym/grpo"
	"toolgym/internal/goroutine"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// panicScorer scores tasks of arithmetic; the environment panics in that of
// seed 18.
func panicScorer(t *testing.T, inStep bool) *grpo.Scorer {
	t.Helper()
	s, err := grpo.NewScorer(tools.Specs{testkit.WithPanic(arithmetic.Spec(), 18, inStep)}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// panicLines are completions of the tasks of seeds 17 and 18 by turns; those of
// 18 are the even lines, counted from 1.
func panicLines(t *testing.T, n int) (text string, groups []grpo.Group) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		id := fmt.Sprintf("arithmetic/0/%d", 17+i%2)
		completion := hermes(testkit.Solve(t, arithmetic.Spec(), "0", uint64(17+i%2)))
		line, err := json.Marshal(map[string]string{"group": id, "task_id": id, "text": completion, "family": "hermes"})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		groups = append(groups, grpo.Group{ID: fmt.Sprint(i), TaskID: id, Completions: []grpo.Completion{written(completion)}})
	}
	return lines.String(), groups
}

// isDefect reports whether err is the panic of the environment.
func isDefect(err error) bool {
	p, ok := errors.AsType[*goroutine.PanicError](err)
	return ok && p.Value == testkit.PanicValue
}

// TestPanicsFailTheirCompletion lets an environment panic in half of the
// completions: these have a failure that does not say why and a Cause that does.
func TestPanicsFailTheirCompletion(t *testing.T) {
	for _, inStep := range []bool{false, true} {
		t.Run(fmt.Sprintf("in step %v", inStep), func(t *testing.T) {
			_, groups := panicLines(t, 40)
			response, err := panicScorer(t, inStep).Score(t.Context(), grpo.Request{Groups: groups})
			if err != nil {
				t.Fatal(err)
			}
			for i, group := range response.Groups {
				got := group.Completions[0]
				if i%2 == 0 {
					if !got.Success || got.Cause != nil {
						t.Errorf("completion %d: success %v, failure %+v, cause %v", i, got.Success, got.Failure, got.Cause)
					}
					continue
				}
				want := grpo.Failure{Kind: grpo.FailureHarness, Reason: "internal error"}
				if got.Reward != nil || got.Failure == nil || *got.Failure != want || !isDefect(got.Cause) {
					t.Errorf("completion %d: reward %v, failure %+v, cause %v", i, got.Reward, got.Failure, got.Cause)
				}
			}
		})
	}
}

// TestPanicsFailTheirLine is the same for lines, all of which are answered.
func TestPanicsFailTheirLine(t *testing.T) {
	for _, inStep := range []bool{false, true} {
		t.Run(fmt.Sprintf("in step %v", inStep), func(t *testing.T) {
			input, _ := panicLines(t, 300)
			failed := 0
			var out bytes.Buffer
			_, err := panicScorer(t, inStep).Stream(t.Context(), strings.NewReader(input), &out, grpo.StreamOptions{Workers: 3, TempDir: t.TempDir(),
				Failed: func(line int, cause error) {
					if failed++; line != 2*failed || !isDefect(cause) {
						t.Errorf("report %d is of line %d: %v", failed, line, cause)
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			lines := readLines(t, strings.ReplaceAll(out.String(), testkit.PanicValue, "LEAKED"))
			if len(lines) != 300 || failed != 150 || strings.Contains(out.String(), testkit.PanicValue) {
				t.Fatalf("%d lines, %d reports", len(lines), failed)
			}
			for i, l := range lines {
				if ok := i%2 == 0; l.Success != ok || (l.Failure == nil) != ok || !ok && l.Failure.Reason != "internal error" {
					t.Errorf("line %d: success %v, failure %+v", i+1, l.Success, l.Failure)
				}
			}
		})
	}
}

// panics is a reader and a writer.
type panics struct{}

func (panics) Read([]byte) (int, error)  { panic(testkit.PanicValue) }
func (panics) Write([]byte) (int, error) { panic(testkit.PanicValue) }

// TestStreamReturnsPanics of what the caller passes: Stream returns, with the
// panic as its error, and the next one works.
func TestStreamReturnsPanics(t *testing.T) {
	input, _ := panicLines(t, 2000)
	panicking := grpo.StreamOptions{Observe: func(*float64) { panic(testkit.PanicValue) }}
	for _, test := range []struct {
		name    string
		in      io.Reader
		out     io.Writer
		options grpo.StreamOptions
	}{
		{"reader at once", panics{}, io.Discard, grpo.StreamOptions{}},
		{"reader later", io.MultiReader(iotest.OneByteReader(strings.NewReader(input[:5000])), panics{}), io.Discard, grpo.StreamOptions{}},
		{"writer", strings.NewReader(input), panics{}, grpo.StreamOptions{Grouped: true}},
		{"observer", strings.NewReader(input), io.Discard, panicking},
		{"report of a failure", strings.NewReader(input), io.Discard, grpo.StreamOptions{Failed: func(int, error) { panic(testkit.PanicValue) }}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := panicScorer(t, true)
			test.options.TempDir = t.TempDir()
			if _, err := s.Stream(t.Context(), test.in, test.out, test.options); !isDefect(err) {
				t.Errorf("error %v, want the panic", err)
			}
			if _, err := s.Stream(t.Context(), strings.NewReader(input), io.Discard, grpo.StreamOptions{TempDir: t.TempDir()}); err != nil {
				t.Error(err)
			}
		})
	}
}
