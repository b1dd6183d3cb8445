package lab

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A spectacle makes a hundred updates a second, each of which takes cost to
// draw, and is over after length.
type spectacle struct {
	begin        time.Time
	cost, length time.Duration
	sent         []string
}

func (s *spectacle) look() sight {
	now := min(time.Since(s.begin), s.length)
	text := fmt.Sprint(now.Milliseconds() / 10)
	return sight{text, now == s.length, func() ([]byte, error) { time.Sleep(s.cost); return []byte(text), nil }}
}

func (s *spectacle) send(name, id string, text []byte) bool {
	if name == "" && id != string(text) {
		s.sent = append(s.sent, "wrong: ")
	}
	s.sent = append(s.sent, name+id)
	return true
}

// TestFramesAreSentAsTheyCan: at least 4 a second, at most 8, the last one
// whole; and no more than half the time is spent on drawing.
func TestFramesAreSentAsTheyCan(t *testing.T) {
	for name, tt := range map[string]struct {
		cost     time.Duration
		from, to int // frames in ten seconds
	}{"at once": {0, 79, 81}, "in 60 ms": {60 * time.Millisecond, 79, 81}, "in 120 ms": {120 * time.Millisecond, 40, 43}, "in a second": {time.Second, 5, 6}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &spectacle{begin: time.Now(), cost: tt.cost, length: 10 * time.Second}
				if err := follow(t.Context(), time.Hour, nil, "", s.look, s.send); err != nil {
					t.Fatal(err)
				}
				n := len(s.sent)
				if n-1 < tt.from || n-1 > tt.to || s.sent[n-2] != "1000" || s.sent[n-1] != "end1000" {
					t.Errorf("%d frames, the last %v", n-1, s.sent[n-2:])
				}
			})
		})
	}
}

func TestFollowSaysWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		still := func() sight { return sight{"7", false, func() ([]byte, error) { return []byte("7"), nil }} }
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		s := &spectacle{}
		if err := follow(ctx, time.Hour, nil, "7", still, s.send); err != nil || len(s.sent) != 2 || s.sent[0] != "still7" {
			t.Errorf("what is seen already: %v, %v", s.sent, err)
		}
		stopping := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stopping) })
		s = &spectacle{}
		if err := follow(t.Context(), time.Hour, stopping, "", still, s.send); err != nil || len(s.sent) != 1 {
			t.Errorf("a server that stops: %v, %v", s.sent, err)
		}
		begun := time.Now()
		s = &spectacle{}
		if err := follow(t.Context(), time.Minute, nil, "", still, s.send); err != nil || time.Since(begun) < time.Minute || time.Since(begun) > 2*time.Minute {
			t.Errorf("nothing changes: ended after %s, %v", time.Since(begun), err)
		}
		gone := func(string, string, []byte) bool { return false }
		if err := follow(t.Context(), time.Hour, nil, "", still, gone); err != nil {
			t.Errorf("a client that has gone: %v", err)
		}
		broken := func() sight { return sight{"8", false, func() ([]byte, error) { return nil, errors.New("no ink") }} }
		if err := follow(t.Context(), time.Hour, nil, "", broken, s.send); err == nil {
			t.Error("a drawing that fails is no error")
		}
	})
}
