package store_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/store"
	"toolgym/tools"
)

// moment is a time n seconds into these tests.
func moment(n int) time.Time { return time.Unix(1_800_000_000+int64(n), 5).UTC() }

func episode(n int, moves ...store.Move) store.Episode {
	return store.Episode{Number: uint64(n), ID: fmt.Sprintf("e%d", n), Task: "arithmetic/2/17", Owner: "alice", MaxSteps: 10, Created: moment(n), Moves: moves}
}

// moves are one of each kind, with bytes that JSON would write otherwise.
func moves() []store.Move {
	call := tools.Call{Name: "add", Arguments: json.RawMessage("{ \"a\": 1.50,\t\"b\":\"<é>\" }")}
	return []store.Move{
		{Step: tools.Transition(call, tools.Result{Content: json.RawMessage(`{"result":"<é>" }`)}, -0.1), Request: "one", Made: moment(101)},
		{Step: tools.Transition(tools.Call{Name: "stop"}, tools.Result{Content: json.RawMessage(`{}`), IsError: true}, math.SmallestNonzeroFloat64), Made: moment(102)},
		{Step: tools.Transition(tools.Call{}, tools.Result{}, 0).Spoken("so\x00 be it"), Request: "two", Made: moment(103)},
		{Step: tools.Termination(call, tools.Result{Content: json.RawMessage(`{}`)}, 1), Made: moment(104)},
	}
}

func addEpisode(t *testing.T, s *store.Store, list ...store.Episode) {
	t.Helper()
	for _, e := range list {
		if err := s.AddEpisode(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEpisodesComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolgym.db")
	first := open(t, path)
	fork := episode(2, moves()...)
	addEpisode(t, first, episode(1), fork)
	for i, m := range moves() {
		if err := first.AddMove(t.Context(), "e1", i+1, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, path)
	live, last, err := second.Episodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Episode{episode(1, moves()...), fork}, live); diff != "" || last != 2 {
		t.Errorf("last %d, %s", last, diff)
	}
	if got := live[0].Used(); got != moment(104) {
		t.Errorf("used at %v", got)
	}
	one, err := second.Episode(t.Context(), "e2")
	if diff := cmp.Diff(fork, one); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestAStepIsKeptOnce(t *testing.T) {
	s := fresh(t)
	addEpisode(t, s, episode(1))
	if err := s.AddMove(t.Context(), "e1", 1, moves()[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.AddMove(t.Context(), "e1", 1, moves()[1]); err == nil {
		t.Error("the same number was taken twice")
	}
	refused(t, s.AddMove(t.Context(), "e7", 1, moves()[0]), tools.NotFound)
	if err := s.AddEpisode(t.Context(), episode(1)); err == nil {
		t.Error("the same episode was taken twice")
	}
	e, err := s.Episode(t.Context(), "e1")
	if err != nil || len(e.Moves) != 1 || e.Moves[0].Request != "one" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestEndedEpisodesAreRetired(t *testing.T) {
	s := fresh(t)
	for n := range 8 {
		addEpisode(t, s, episode(n+1, moves()...))
	}
	for n := range 6 {
		if err := s.EndEpisodes(t.Context(), moment(n), fmt.Sprintf("e%d", n+1), "unknown"); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name                 string
		before               time.Time
		latest, limit, gone  int
		live, ended, lastOne int
	}{
		{"those before a time, no more than the limit", moment(3), 100, 2, 2, 2, 4, 8},
		{"those before a time", moment(3), 100, 9, 1, 2, 3, 8},
		{"all but the latest", moment(0), 1, 9, 2, 2, 1, 8},
		{"live ones never", moment(1000), 1, 9, 1, 2, 0, 8},
	}
	for _, step := range steps {
		gone, err := s.RetireEpisodes(t.Context(), step.before, step.latest, step.limit)
		if err != nil || gone != step.gone {
			t.Errorf("%s: %d deleted, %v", step.name, gone, err)
		}
		live, last, err := s.Episodes(t.Context())
		if err != nil || len(live) != step.live || int(last) != step.lastOne {
			t.Errorf("%s: %d live, last %d, %v", step.name, len(live), last, err)
		}
		ended, err := s.EndedEpisodes(t.Context(), "alice", 0, 100)
		if err != nil || len(ended) != step.ended {
			t.Errorf("%s: %d ended, %v", step.name, len(ended), err)
		}
	}
	refused(t, s.DeleteEpisode(t.Context(), "e1"), tools.NotFound)
	if err := s.DeleteEpisode(t.Context(), "e8"); err != nil {
		t.Error(err)
	}
}

// TestRetiringSparesOthers floods the ended episodes as one owner, beyond the
// limit: the oldest of that owner go, and those of others stay.
func TestRetiringSparesOthers(t *testing.T) {
	for _, test := range []struct {
		name          string
		bobs, alices  int
		latest, limit int
		want          map[string]int
	}{
		{"one has more", 3, 40, 10, 100, map[string]int{"bob": 3, "alice": 7}},
		{"both have more than half", 8, 40, 10, 100, map[string]int{"bob": 5, "alice": 5}},
		{"the limit ends it", 3, 40, 10, 12, map[string]int{"bob": 3, "alice": 28}},
		{"there is room", 3, 4, 10, 100, map[string]int{"bob": 3, "alice": 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fresh(t)
			for n := range test.bobs + test.alices {
				e := episode(n + 1)
				if n < test.bobs {
					e.Owner = "bob"
				}
				addEpisode(t, s, e)
				if err := s.EndEpisodes(t.Context(), moment(n), e.ID); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.RetireEpisodes(t.Context(), moment(0), test.latest, test.limit); err != nil {
				t.Fatal(err)
			}
			for owner, want := range test.want {
				kept, err := s.EndedEpisodes(t.Context(), owner, 0, 100)
				if err != nil || len(kept) != want {
					t.Errorf("%s has %d, %v; want %d", owner, len(kept), err, want)
				}
			}
			kept, err := s.EndedEpisodes(t.Context(), "alice", 0, 100)
			if last := test.bobs + test.alices; err != nil || int(kept[len(kept)-1].Number) != last {
				t.Errorf("the last kept is not the newest, %d", last)
			}
		})
	}
}

func TestEndedEpisodesBelongToTheirOwner(t *testing.T) {
	s := fresh(t)
	bobs := episode(2)
	bobs.Owner = "bob"
	addEpisode(t, s, episode(1), bobs, episode(3))
	if err := s.EndEpisodes(t.Context(), moment(9), "e1", "e2", "e3"); err != nil {
		t.Fatal(err)
	}
	for owner, want := range map[string]int{"alice": 2, "bob": 1, "*": 3, "": 0} {
		if got, err := s.EndedEpisodes(t.Context(), owner, 0, 10); err != nil || len(got) != want {
			t.Errorf("%q has %d, %v; want %d", owner, len(got), err, want)
		}
	}
	if got, err := s.EndedEpisodes(t.Context(), "*", 1, 1); err != nil || len(got) != 1 || got[0].ID != "e2" {
		t.Errorf("a page: %v, %v", got, err)
	}
}

func TestOneServerHasTheEpisodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolgym.db")
	first, second := open(t, path), open(t, path)
	claim, err := first.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.Claim(t.Context())
	refused(t, err, tools.Conflict)
	begin(t, second, plan("a run meanwhile", 1))
	if err := claim.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := second.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
