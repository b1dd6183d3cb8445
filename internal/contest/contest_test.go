package contest_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"toolgym/internal/contest"
)

func TestHoldRefuses(t *testing.T) {
	comesTo := func(sum float64, err error) func() (time.Duration, float64, error) {
		return func() (time.Duration, float64, error) { return 1, sum, err }
	}
	if _, err := contest.Hold([]contest.Contestant{{"a", comesTo(5, nil)}, {"b", comesTo(6, nil)}}, 1); err == nil || !strings.Contains(err.Error(), "b comes to 6") {
		t.Errorf("another sum: %v", err)
	}
	if _, err := contest.Hold([]contest.Contestant{{"a", comesTo(5, errors.New("broken"))}}, 1); err == nil {
		t.Error("a contestant that fails competes on")
	}
}

func TestTheFirstRoundDoesNotCount(t *testing.T) {
	turns := 0
	a := contest.Contestant{Name: "a", Turn: func() (time.Duration, float64, error) {
		turns++
		return time.Duration(turns) * time.Second, 0, nil
	}}
	times, err := contest.Hold([]contest.Contestant{a}, 2)
	if err != nil || len(times) != 2 || times[0][0] != 2*time.Second || turns != 3 {
		t.Errorf("%v after %d turns, %v", times, turns, err)
	}
}

func TestMedians(t *testing.T) {
	even := contest.Times{{2e9, 4e9}, {3e9, 30e9}, {4e9, 16e9}, {5e9, 20e9}}
	odd := even[:3]
	for name, test := range map[string]struct{ got, want float64 }{
		"of an even number":    {even.Seconds(1), 18},
		"of an odd number":     {odd.Seconds(0), 3},
		"of the rounds' ratio": {even.Ratio(1), 0.25},
		"of the first's ratio": {even.Ratio(0), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("%v, want %v", test.got, test.want)
			}
		})
	}
}

// TestMain lets the test's own program be the peer.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "peer" {
		echo()
		return
	}
	os.Exit(m.Run())
}

func TestPeer(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := contest.Start(program, "peer")
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Stop()
	for range 2 {
		if took, sum, err := peer.Ask([]byte("0.5 7")); err != nil || took != time.Second/2 || sum != 7 {
			t.Errorf("%v %v %v", took, sum, err)
		}
	}
	if _, _, err := peer.Ask([]byte("well")); err == nil || !strings.Contains(err.Error(), "well") {
		t.Errorf("an answer without numbers: %v", err)
	}
	if _, err := contest.Start("/nowhere/program"); err == nil {
		t.Error("a program that is not there starts")
	}
}

// echo answers each line with itself.
func echo() { _, _ = io.Copy(os.Stdout, os.Stdin) }
