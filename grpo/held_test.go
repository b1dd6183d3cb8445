package grpo_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"toolgym/grpo"
)

// TestStreamsAreChargedForWhatTheyHold scores lines that hold much memory at a
// time, in themselves, by what is made of them or since they wait for each other,
// and lines that do not.
func TestStreamsAreChargedForWhatTheyHold(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	attempts := strings.Repeat(call(`{}`), 5000)
	full := errors.New("there is no room")
	for _, test := range []struct {
		name    string
		lines   int
		line    func(i int) string
		ordered bool
		least   int64 // that is charged at a time; 0: nothing is
	}{
		{"many small groups", 5000, func(i int) string { return scoreLine(fmt.Sprint(i/4), "none") }, true, 0},
		{"one large line", 1, func(int) string { return scoreLine("g", strings.Repeat("ab ", 4<<20)) }, true, 20 << 20},
		{"a large group name", 1, func(int) string { return scoreLine(strings.Repeat("g", 10<<20), "none") }, true, 20 << 20},
		{"many attempts", 40, func(i int) string { return scoreLine(fmt.Sprint(i), attempts) }, true, 10 << 20},
		{"one group", 5000, func(int) string { return scoreLine("g", "none") }, true, 2 << 20},
		{"groups that wait for the end", 5000, func(i int) string { return scoreLine(fmt.Sprint(i), "none") }, false, 2 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			var input strings.Builder
			for i := range test.lines {
				input.WriteString(test.line(i))
			}
			var one sync.Mutex
			var now, most, room int64
			options := grpo.StreamOptions{Grouped: test.ordered, TempDir: t.TempDir(), Workers: 2,
				Charge: func(bytes int64) error {
					one.Lock()
					defer one.Unlock()
					if room > 0 && now+bytes > room {
						return full
					}
					now += bytes
					most = max(most, now)
					return nil
				},
				Release: func(bytes int64) {
					one.Lock()
					defer one.Unlock()
					now -= bytes
				}}
			if _, err := s.Stream(t.Context(), strings.NewReader(input.String()), io.Discard, options); err != nil {
				t.Fatal(err)
			}
			if most < test.least || test.least == 0 && most > 0 {
				t.Errorf("%d bytes were charged at a time; want at least %d, none for 0", most, test.least)
			}
			if now < 0 || now > 4<<20 {
				t.Errorf("%d bytes are charged at the end; want those that are free at most", now)
			}
			now, most, room = 0, 0, 1<<20
			_, err := s.Stream(t.Context(), strings.NewReader(input.String()), io.Discard, options)
			if refused := errors.Is(err, full); refused != (test.least > 0) || most > room {
				t.Errorf("with room for %d bytes: got error %v, %d bytes charged; want the error of the charge: %t", room, err, most, test.least > 0)
			}
		})
	}
}
