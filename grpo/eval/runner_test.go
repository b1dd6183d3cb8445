package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// Each thing that can go wrong ends in its own bucket, and none of it is a
// failure of the model but those that are.
func TestWhoIsToBlame(t *testing.T) {
	tests := []struct{ script, bucket string }{
		{"right", "passed"},
		{"wrong", "model"},
		{"500 that quotes a call", "model"},
		{"reaches num_predict", "model"},
		{"hangs", "infrastructure"},
		{"500", "infrastructure"},
		{"cuts the stream", "infrastructure"},
		{"ends before it is done", "infrastructure"},
		{"loses the output", "serving"},
		{"truncates the prompt", "harness"},
	}
	var scripts []string
	for _, test := range tests {
		scripts = append(scripts, test.script)
	}
	kept := &ledger{}
	if err := runner(t, newScripted(t), kept, 1, items(t, scripts...)).Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	trials := kept.trials()
	for i, test := range tests {
		t.Run(test.script+" is "+test.bucket, func(t *testing.T) {
			at := slices.IndexFunc(trials, func(tr eval.Trial) bool { return tr.Task == fmt.Sprintf("own/0/%d", i) })
			if at < 0 {
				t.Fatal("there is no trial")
			}
			if got := bucket(trials[at]); got != test.bucket {
				t.Errorf("it is %s: %+v", got, trials[at].Failure)
			}
			if scored := trials[at].Reward != nil; scored != (trials[at].Failure == nil) {
				t.Errorf("reward %v, failure %v", trials[at].Reward, trials[at].Failure)
			}
		})
	}
	s := eval.Summarize(trials, rand.NewPCG(1, 1))
	if s.Scored != 4 || s.Passed != 1 || s.ModelFailed != 3 || s.InfrastructureExcluded != 4 || s.ServingLost != 1 || s.HarnessExcluded != 1 || s.Truncated != 1 {
		t.Errorf("%+v", s)
	}
	if s.Success != nil || s.Withheld == "" || s.WorstCase != 0.1 {
		t.Errorf("success %v (%s), worst case %v", s.Success, s.Withheld, s.WorstCase)
	}
}

func bucket(t eval.Trial) string {
	switch {
	case t.Failure != nil:
		return t.Failure.Kind
	case t.Success:
		return "passed"
	}
	return "model"
}

func TestOnlyTheInfrastructureIsAskedAgain(t *testing.T) {
	tests := []struct {
		script string
		retry  eval.Retry
		asked  int
		bucket string
	}{
		{"stumbles twice", eval.Retry{Attempts: 3, Budget: 10}, 3, "passed"},
		{"stumbles twice", eval.Retry{Attempts: 2, Budget: 10}, 2, "infrastructure"},
		{"stumbles twice", eval.Retry{Attempts: 3, Budget: 1}, 2, "infrastructure"},
		{"500", eval.Retry{Attempts: 50, Budget: 50}, 9, "infrastructure"}, // the server is gone
		{"wrong", eval.Retry{Attempts: 3, Budget: 10}, 1, "model"},
		{"500 that quotes a call", eval.Retry{Attempts: 3, Budget: 10}, 1, "model"},
		{"loses the output", eval.Retry{Attempts: 3, Budget: 10}, 1, "serving"},
		{"truncates the prompt", eval.Retry{Attempts: 3, Budget: 10}, 1, "harness"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s, %d attempts, budget %d: asked %d times", test.script, test.retry.Attempts, test.retry.Budget, test.asked), func(t *testing.T) {
			server, kept := newScripted(t), &ledger{}
			r := runner(t, server, kept, 1, items(t, test.script))
			r.Retry = test.retry
			if err := r.Play(t.Context()); err != nil {
				t.Fatal(err)
			}
			trials := kept.trials()
			if len(trials) != 1 || bucket(trials[0]) != test.bucket || int(server.asked.Load()) != test.asked {
				t.Errorf("asked %d times, %d trials: %+v", server.asked.Load(), len(trials), trials)
			}
		})
	}
}

// A run that is stopped at any point and started again has each trial once.
func TestResume(t *testing.T) {
	server, kept := newScripted(t), &ledger{}
	list := items(t, "right", "wrong", "loses the output", "500", "right")
	const all = 5 * 3
	for stop := 1; ; stop += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		r := runner(t, server, kept, 3, list)
		r.Kept = kept.trials()
		seen := 0
		r.Observe = func(eval.Trial) {
			if seen++; seen == stop {
				cancel()
			}
		}
		err := r.Play(ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	times := map[string]int{}
	for _, trial := range kept.trials() {
		if bucket(trial) != "infrastructure" {
			times[fmt.Sprint(trial.Task, " ", trial.Trial)]++
		}
	}
	if len(times) != all-3 {
		t.Errorf("%d trials are there: %v", len(times), times)
	}
	r := runner(t, server, kept, 3, list)
	r.Kept = kept.trials()
	if err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := len(kept.trials()) - len(r.Kept); again != 3 { // the server may still hear of requests that were given up
		t.Errorf("%d trials more, want the 3 that the infrastructure failed", again)
	}
}

// TestServersShareTheWork lets each server answer once the other has been asked
// as well: otherwise a quick one may do all of it.
func TestServersShareTheWork(t *testing.T) {
	one, two, kept := newScripted(t), newScripted(t), &ledger{}
	var asked sync.WaitGroup
	asked.Add(2)
	for _, server := range []*scripted{one, two} {
		server.before = sync.OnceFunc(func() {
			asked.Done()
			asked.Wait()
		})
	}
	r := runner(t, one, kept, 20, items(t, "right", "wrong"))
	r.Servers = append(r.Servers, runner(t, two, kept, 1, r.Items).Servers...)
	if err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(kept.trials()); n != 40 || one.asked.Load()+two.asked.Load() != 40 {
		t.Errorf("%d trials, asked %d and %d times", n, one.asked.Load(), two.asked.Load())
	}
	if one.asked.Load() == 0 || two.asked.Load() == 0 {
		t.Errorf("one server did nothing: %d and %d", one.asked.Load(), two.asked.Load())
	}
}

func TestAFullLedgerEndsTheRun(t *testing.T) {
	full := &tools.Error{Code: tools.Exhausted, Message: "the disk is full"}
	err := runner(t, newScripted(t), &ledger{full: full}, 5, items(t, "right", "wrong")).Play(t.Context())
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// Grading again what was kept gives the same bytes, with the server gone.
func TestRescoreIsTheSameToTheByte(t *testing.T) {
	server, kept := newScripted(t), &ledger{}
	list := items(t, "right", "wrong", "loses the output", "reaches num_predict", "500 that quotes a call", "500", "truncates the prompt")
	r := runner(t, server, kept, 2, list)
	if err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Close()
	again, err := eval.Rescore(t.Context(), list, r.Scorer, kept.records)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, kept.records), asJSON(t, again)); diff != "" {
		t.Error(diff)
	}
}

func TestRunnerRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*eval.Runner)
	}{
		{"no tasks", func(r *eval.Runner) { r.Items = nil }},
		{"no trials", func(r *eval.Runner) { r.Run.Trials = 0 }},
		{"no attempts", func(r *eval.Runner) { r.Retry.Attempts = 0 }},
		{"a route that no server plays", func(r *eval.Runner) { r.Run.Routes = []string{"chat", "raw"} }},
		{"a server that plays nothing at a time", func(r *eval.Runner) { r.Servers[0].Concurrency = 0 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := runner(t, newScripted(t), &ledger{}, 1, items(t, "right"))
			test.spoil(r)
			var refused *tools.Error
			if err := r.Play(t.Context()); !errors.As(err, &refused) || refused.Code != tools.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
}

// brittle cannot write some records: it fails, or panics.
type brittle struct {
	ledger
	refuses func(eval.Record) bool
	panics  bool
}

func (b *brittle) Keep(ctx context.Context, r eval.Record) error {
	switch {
	case !b.refuses(r):
		return b.ledger.Keep(ctx, r)
	case b.panics:
		panic("a defect")
	}
	return errors.New("the record is odd")
}

// A record that cannot be written is its trial's failure; a ledger that writes
// none ends the run.
func TestARecordThatCannotBeKept(t *testing.T) {
	for _, panics := range []bool{false, true} {
		kept := &brittle{refuses: func(r eval.Record) bool { return r.Success }, panics: panics}
		if err := runner(t, newScripted(t), kept, 1, items(t, "right", "wrong")).Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, trial := range kept.trials() {
			got[trial.Task] = bucket(trial)
		}
		if diff := cmp.Diff(map[string]string{"own/0/0": "harness", "own/0/1": "model"}, got); diff != "" {
			t.Error(diff)
		}
		none := &brittle{refuses: func(eval.Record) bool { return true }, panics: panics}
		if err := runner(t, newScripted(t), none, 1, items(t, "right", "wrong")).Play(t.Context()); err == nil {
			t.Error("a ledger that keeps nothing did not end the run")
		}
	}
}

// failing is a driver whose runs fail in a way of the task's.
type failing struct{}

func (failing) Run(_ context.Context, _ tools.Env, task tools.Task, _ int) (rollout.Transcript, error) {
	switch task.Prompt[0].Content {
	case "panic":
		panic("a defect")
	case "error":
		return rollout.Transcript{}, errors.New("a secret path")
	case "unavailable":
		return rollout.Transcript{}, &tools.Error{Code: tools.Unavailable, Message: "the MCP server is gone"}
	}
	return rollout.Transcript{}, &tools.Error{Code: tools.Conflict, Message: "the environment is not open"}
}

// What goes wrong in one trial fails that trial, with a reason that tells a
// client only what a client may see.
func TestADriverThatFails(t *testing.T) {
	kept := &ledger{}
	r := runner(t, newScripted(t), kept, 1, items(t, "panic", "error", "unavailable", "conflict"))
	r.Servers[0].Drivers["chat"] = failing{}
	if err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, trial := range kept.trials() {
		got[trial.Task] = trial.Failure.Kind + ": " + trial.Failure.Reason
	}
	want := map[string]string{"own/0/0": "harness: internal error", "own/0/1": "harness: internal error", "own/0/2": "infrastructure: the MCP server is gone", "own/0/3": "harness: the environment is not open"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
