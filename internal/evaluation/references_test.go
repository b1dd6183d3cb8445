package evaluation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// watched counts the environments that are made, and lets nobody make one while
// the gate is closed.
type watched struct {
	made atomic.Int64
	gate chan struct{}
}

func (w *watched) room(t *testing.T) evaluation.Room {
	t.Helper()
	r, spec := room(t), arithmetic.Spec()
	plain := spec.New
	spec.New = func() tools.Env {
		w.made.Add(1)
		<-w.gate
		return plain()
	}
	r.Specs = tools.Specs{spec}
	return r
}

const patient = time.Hour

func kept(t *testing.T, w *watched, names ...string) (evaluation.Room, *evaluation.References) {
	t.Helper()
	r := w.room(t)
	for _, name := range names {
		play(t, r, evaluation.Request{Run: name, Model: "random", Route: evaluation.RouteAgent, Envs: []string{"arithmetic"}, Levels: []string{"0"}, N: 2})
	}
	references := evaluation.NewReferences()
	t.Cleanup(references.Close)
	return r, references
}

func open() *watched {
	w := &watched{gate: make(chan struct{})}
	close(w.gate)
	return w
}

// The agents play once for a run, and the report says what it says without.
func TestReferencesArePlayedOnce(t *testing.T) {
	w := open()
	r, references := kept(t, w, "a")
	want, err := r.Report(t.Context(), "a")
	if err != nil || len(want.Baselines) != 4 {
		t.Fatalf("%+v, %v", want.Baselines, err)
	}
	before := w.made.Load()
	for turn := range 3 {
		got, whole, err := references.Report(t.Context(), r, "a", patient)
		if err != nil || !whole {
			t.Fatalf("whole: %t, %v", whole, err)
		}
		if diff := cmp.Diff(want.Baselines, got.Baselines, cmpopts.IgnoreUnexported(eval.Comparison{})); diff != "" {
			t.Error(diff)
		}
		if turn == 0 {
			before = w.made.Load()
		}
	}
	if got := w.made.Load() - before; got != 0 {
		t.Errorf("%d environments were made again", got)
	}
}

// Whoever has no patience gets the report without; the agents play on.
func TestReferencesKeepNobodyWaiting(t *testing.T) {
	w := open()
	r, references := kept(t, w, "a")
	w.gate = make(chan struct{})
	got, whole, err := references.Report(t.Context(), r, "a", 0)
	if err != nil || whole || len(got.Baselines) != 0 || got.Summary.Trials != 2 {
		t.Errorf("whole: %t, %+v, %v", whole, got.Baselines, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, whole, err := references.Report(ctx, r, "a", patient); whole || !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended: whole: %t, %v", whole, err)
	}
	close(w.gate)
	if got, whole, err := references.Report(t.Context(), r, "a", patient); err != nil || !whole || len(got.Baselines) != 4 {
		t.Errorf("whole: %t, %+v, %v", whole, got.Baselines, err)
	}
}

// A verdict that changes, here of all trials at once, asks the agents again.
func TestReferencesFollowTheTrials(t *testing.T) {
	w := open()
	r, references := kept(t, w, "a")
	first, _, err := references.Report(t.Context(), r, "a", patient)
	if err != nil {
		t.Fatal(err)
	}
	records, err := r.Store.Records(t.Context(), "a", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		records[i].Success = !records[i].Success
	}
	if err := r.Store.Judge(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	second, whole, err := references.Report(t.Context(), r, "a", patient)
	if err != nil || !whole || first.Baselines[0].Comparison.Sentence == second.Baselines[0].Comparison.Sentence {
		t.Errorf("whole: %t, %s, %v", whole, second.Baselines[0].Comparison.Sentence, err)
	}
}

// Of an owner with many runs the newest are kept, and those of others.
func TestReferencesOfOthersStay(t *testing.T) {
	w := open()
	r, references := kept(t, w)
	var names []string
	for i := range 67 {
		owner := "ann"
		if i == 0 {
			owner = "bob"
		}
		names = append(names, fmt.Sprint("run ", i))
		play(t, r, evaluation.Request{Run: names[i], Owner: owner, Model: "random", Route: evaluation.RouteAgent, Envs: []string{"arithmetic"}, Levels: []string{"0"}, N: 2})
		if _, whole, err := references.Report(t.Context(), r, names[i], patient); err != nil || !whole {
			t.Fatalf("%s: whole: %t, %v", names[i], whole, err)
		}
	}
	for _, kept := range []struct {
		name  string
		again bool
	}{{names[0], false}, {names[66], false}, {names[1], true}} {
		before := w.made.Load()
		if _, _, err := references.Report(t.Context(), r, kept.name, patient); err != nil || (w.made.Load() > before) != kept.again {
			t.Errorf("%s is played again: %t, %v", kept.name, !kept.again, err)
		}
	}
}

// Of many runs the newest are kept, and a server that ends waits for no agent.
func TestReferencesHaveBounds(t *testing.T) {
	w := open()
	var names []string
	for i := range 66 {
		names = append(names, fmt.Sprint("run ", i))
	}
	r, references := kept(t, w, names...)
	for _, name := range names {
		if _, whole, err := references.Report(t.Context(), r, name, patient); err != nil || !whole {
			t.Fatalf("%s: whole: %t, %v", name, whole, err)
		}
	}
	for name, again := range map[string]bool{names[65]: false, names[3]: false, names[0]: true} {
		before := w.made.Load()
		if _, _, err := references.Report(t.Context(), r, name, patient); err != nil || (w.made.Load() > before) != again {
			t.Errorf("%s is played again: %t, %v", name, !again, err)
		}
	}
	references.Close()
	if _, whole, err := references.Report(t.Context(), r, names[1], patient); err != nil || whole {
		t.Errorf("of a server that ends: whole: %t, %v", whole, err)
	}
	if _, _, err := references.Report(t.Context(), r, "nobody", patient); err == nil {
		t.Error("a run that is not there has a report")
	}
}

// A panic while the baselines play leaves them out of the report, which says so
// without its value; the log has it. A report of another run has its baselines.
func TestReferencesPanic(t *testing.T) {
	r, references := kept(t, open(), "a", "b")
	broken, log := r, new(strings.Builder)
	spec := r.Specs[0]
	spec.NewTask = func(string, string, uint64) (tools.Task, error) { panic(testkit.PanicValue) }
	broken.Specs, broken.Logger = tools.Specs{spec}, slog.New(slog.NewTextHandler(log, nil))
	got, whole, err := references.Report(t.Context(), broken, "a", patient)
	if err != nil || !whole || len(got.NotComputed) != 1 || got.NotComputed[0].Reason != "internal error" || got.Summary.Trials == 0 {
		t.Errorf("got %+v, whole %t, %v", got.NotComputed, whole, err)
	}
	if text := log.String(); !strings.Contains(text, testkit.PanicValue) || !strings.Contains(text, "run=a") {
		t.Errorf("the log: %s", text)
	}
	if got, whole, err = references.Report(t.Context(), r, "b", patient); err != nil || !whole || len(got.Baselines) != 4 {
		t.Errorf("another run: %+v, %t, %v", got.Baselines, whole, err)
	}
}
