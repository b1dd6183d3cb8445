package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/internal/store"
	"toolgym/tools"
)

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t *testing.T) *store.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "data", "toolgym.db"))
}

// plan is a run of n tasks with two trials each.
func plan(name string, n int) eval.Run {
	run := eval.Run{Name: name, Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Model: "m", Digest: "sha256:1",
		Routes: []string{"chat"}, Trials: 2, Seed: 7, Options: json.RawMessage(`{"num_ctx":4096}`), Command: []string{"toolgym", "eval"}}
	for i := range n {
		run.Tasks = append(run.Tasks, eval.RunTask{ID: task(i), Hash: fmt.Sprintf("h%d", i), Document: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}
	return run
}

func task(i int) string { return fmt.Sprintf("arithmetic/0/%d", i) }

// record is a trial; an empty kind means that it was scored and passed.
func record(run string, i, trial int, kind string) eval.Record {
	r := eval.Record{Digest: "sha256:1", Seed: trial, Options: json.RawMessage(`{"num_ctx":4096}`), Server: "http://127.0.0.1:1", Version: "0.0.0",
		Template: "t", Started: time.Date(2026, 5, 4, 3, 2, 1, 5, time.UTC), Transcript: json.RawMessage(`{"messages":[12345678901234567890]}`)}
	r.Trial = eval.Trial{Run: run, Model: "m", Route: "chat", Task: task(i), Trial: trial, PromptTokens: 5, OutputTokens: 3, Duration: time.Second}
	if kind != "" {
		r.Failure = &grpo.Failure{Kind: kind, Reason: "by script"}
		return r
	}
	reward := 5.35
	r.Success, r.Reward, r.Tier = true, &reward, "strict"
	return r
}

func begin(t *testing.T, s *store.Store, run eval.Run) {
	t.Helper()
	if err := s.Begin(t.Context(), run, ""); err != nil {
		t.Fatal(err)
	}
}

func keep(t *testing.T, s *store.Store, records ...eval.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// written is v as JSON: what is kept must give the same bytes again.
func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// refused fails unless err is a caller's mistake of that code.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	if e := mistake(t, err, code); e.Message == "" {
		t.Errorf("it has no message: %v", e)
	}
}

// mistake is err as a caller's mistake of that code.
func mistake(t *testing.T, err error, code string) *tools.Error {
	t.Helper()
	var e *tools.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want an error of code %s", err, code)
	}
	return e
}

func TestRunsAndTrialsComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?", "50%.db") // what an address must escape
	s := open(t, path)
	run := plan("one", 3)
	begin(t, s, run)
	records := []eval.Record{record("one", 0, 0, ""), record("one", 0, 1, ""), record("one", 2, 0, "serving")}
	keep(t, s, records[2], records[1], records[0]) // the plan orders them
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	gotRun, err := s.Run(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, gotRun); diff != "" {
		t.Error(diff)
	}
	got, err := s.Records(t.Context(), "one", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written(t, records), written(t, got)); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Records(t.Context(), "one", task(2)); err != nil || len(got) != 1 || got[0].Task != task(2) {
		t.Errorf("of one task: %v, %v", got, err)
	}
	trials, err := s.Trials(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written(t, []eval.Trial{records[0].Trial, records[1].Trial, records[2].Trial}), written(t, trials)); diff != "" {
		t.Error(diff)
	}
}

func TestATrialIsKeptOnceUnlessTheInfrastructureFailed(t *testing.T) {
	s := fresh(t)
	begin(t, s, plan("one", 1))
	keep(t, s, record("one", 0, 0, "infrastructure"), record("one", 0, 0, "infrastructure"), record("one", 0, 0, ""))
	for _, kind := range []string{"", "serving", "harness"} {
		refused(t, s.Keep(t.Context(), record("one", 0, 0, kind)), tools.Conflict)
	}
	keep(t, s, record("one", 0, 0, "infrastructure")) // late news of an earlier request
	trials, err := s.Trials(t.Context(), "one")
	if err != nil || len(trials) != 1 || !trials[0].Success {
		t.Errorf("got %+v, %v", trials, err)
	}
	other := record("one", 0, 0, "")
	other.Digest = "sha256:2"
	keep(t, s, other) // another model behind the same name
	if trials, err := s.Trials(t.Context(), "one"); err != nil || len(trials) != 2 {
		t.Errorf("got %+v, %v", trials, err)
	}
}

func TestRefusals(t *testing.T) {
	s := fresh(t)
	begin(t, s, plan("one", 1))
	twice := plan("two", 1)
	twice.Tasks = append(twice.Tasks, twice.Tasks[0])
	tests := []struct {
		name string
		code string
		do   func(context.Context) error
	}{
		{"a run that is there", tools.Conflict, func(ctx context.Context) error { return s.Begin(ctx, plan("one", 2), "") }},
		{"a task twice", tools.Invalid, func(ctx context.Context) error { return s.Begin(ctx, twice, "") }},
		{"a trial of an unknown run", tools.NotFound, func(ctx context.Context) error { return s.Keep(ctx, record("none", 0, 0, "")) }},
		{"a trial of an unknown task", tools.NotFound, func(ctx context.Context) error { return s.Keep(ctx, record("one", 5, 0, "")) }},
		{"an unknown run", tools.NotFound, func(ctx context.Context) error { _, err := s.Run(ctx, "none"); return err }},
		{"trials of an unknown run", tools.NotFound, func(ctx context.Context) error { _, err := s.Trials(ctx, "none"); return err }},
		{"deleting an unknown run", tools.NotFound, func(ctx context.Context) error { return s.Delete(ctx, "none") }},
		{"judging an unknown trial", tools.NotFound, func(ctx context.Context) error { return s.Judge(ctx, []eval.Record{record("one", 0, 1, "")}) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refused(t, test.do(t.Context()), test.code) })
	}
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Errorf("a refused run was kept: %v, %v", runs, err)
	}
}

func TestRunsListsTheNewestFirstAndDeleteLeavesTheOthers(t *testing.T) {
	s := fresh(t)
	begin(t, s, plan("old", 2))
	begin(t, s, plan("new", 3))
	keep(t, s, record("old", 0, 0, ""), record("old", 1, 0, "infrastructure"), record("new", 0, 0, ""))
	runs, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprintf("%s planned %d kept %d failed %d", r.Name, r.Planned, r.Kept, r.Failed))
	}
	if diff := cmp.Diff([]string{"new planned 6 kept 1 failed 0", "old planned 4 kept 1 failed 1"}, got); diff != "" {
		t.Error(diff)
	}
	if err := s.Delete(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	if trials, err := s.Trials(t.Context(), "old"); err != nil || len(trials) != 2 {
		t.Errorf("the other run has %v, %v", trials, err)
	}
	refused(t, s.Delete(t.Context(), "new"), tools.NotFound)
}

func TestJudgingAgainAddsAVerdict(t *testing.T) {
	s := fresh(t)
	begin(t, s, plan("one", 1))
	r := record("one", 0, 0, "")
	keep(t, s, r)
	r.Success, r.Tier = false, "syntax"
	if err := s.Judge(t.Context(), []eval.Record{r}); err != nil {
		t.Fatal(err)
	}
	trials, err := s.Trials(t.Context(), "one")
	if err != nil || len(trials) != 1 || trials[0].Success || trials[0].Tier != "syntax" {
		t.Errorf("got %+v, %v", trials, err)
	}
}

// Many write at once, some of them what is there already: what succeeded is
// there exactly once, also through a second handle on the file.
func TestWritersTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolgym.db")
	stores := []*store.Store{open(t, path), open(t, path)}
	const n = 40
	begin(t, stores[0], plan("one", n))
	var group sync.WaitGroup
	won := make(chan string, 4*n)
	for k := range 4 * n {
		group.Go(func() {
			r := record("one", k%n, 0, "")
			if err := stores[k%2].Keep(t.Context(), r); err == nil {
				won <- r.Task
			} else if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Conflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	close(won)
	seen := map[string]int{}
	for name := range won {
		seen[name]++
	}
	trials, err := stores[1].Trials(t.Context(), "one")
	if err != nil || len(trials) != n || len(seen) != n {
		t.Fatalf("%d trials, %d tasks won, %v", len(trials), len(seen), err)
	}
	for name, times := range seen {
		if times != 1 {
			t.Errorf("%s was kept %d times", name, times)
		}
	}
}

func TestWritesAfterCloseAreRefused(t *testing.T) {
	s := fresh(t)
	begin(t, s, plan("one", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, s.Keep(t.Context(), record("one", 0, 0, "")), tools.Unavailable)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestRunsHaveOwners, also in a file that was made before they had.
func TestRunsHaveOwners(t *testing.T) {
	path := spare(t)
	sqlOn(t, path, `ALTER TABLE runs DROP COLUMN owner`, `DROP INDEX episodes_ended`, `DELETE FROM goose_db_version WHERE version_id >= 4`)
	s := open(t, path)
	if err := s.Begin(t.Context(), plan("two", 1), "tom"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "", "two": "tom"} {
		if got, err := s.Owner(t.Context(), name); err != nil || got != want {
			t.Errorf("%s is %q's, want %q; %v", name, got, want, err)
		}
	}
	_, err := s.Owner(t.Context(), "three")
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.NotFound {
		t.Errorf("of none: %v", err)
	}
	list, err := s.Runs(t.Context())
	if err != nil || len(list) != 2 || list[0].Owner != "tom" || list[1].Owner != "" || list[1].Kept != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
