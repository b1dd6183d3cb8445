package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/internal/plain"
	"toolgym/internal/refusal"
	"toolgym/internal/store"
	"toolgym/tools"
)

// A Room is what evaluations share.
type Room struct {
	Specs  tools.Specs
	Store  *store.Store
	Rubric *grpo.Rubric // nil: the default
	Now    func() time.Time
	Logger *slog.Logger // of trials that fail on our side; nil discards it
	Retry  *eval.Retry  // nil: the default
}

// An Evaluation is a run that can be played.
type Evaluation struct {
	Run     eval.Run
	Kept    []eval.Trial // of an earlier start
	Planned int          // trials in all

	runner *eval.Runner
}

func (r Room) scorer() (*grpo.Scorer, error) {
	rubric := grpo.DefaultRubric()
	if r.Rubric != nil {
		rubric = *r.Rubric
	}
	return grpo.NewScorer(r.Specs, rubric)
}

// Check reports what [Room.Open] would refuse, as far as that is known without
// the store and the servers, which it does not touch. A request with Resume is
// completed by the run that it goes on with, so that nothing is known of it yet.
func (r Room) Check(ctx context.Context, request Request) error {
	if request.Resume {
		return nil
	}
	request, _, err := r.merge(ctx, request)
	if err != nil {
		return err
	}
	_, _, err = r.prepare(ctx, request)
	return err
}

// prepare makes the tasks of a valid request, and what judges them.
func (r Room) prepare(ctx context.Context, request Request) ([]eval.Item, *grpo.Scorer, error) {
	scorer, err := r.scorer()
	if err != nil {
		return nil, nil, err
	}
	items, err := request.Items(ctx, r.Specs)
	if err != nil {
		return nil, nil, err
	}
	if most := mostTrials / len(request.routes()) / len(items); request.Trials > most {
		return nil, nil, refusal.New("trials", fmt.Sprintf("at most %d of each, %d in all", most, mostTrials), "%d trials of each of %d tasks", request.Trials, len(items))
	}
	return items, scorer, solvable(ctx, items, scorer)
}

func (r Room) retry() eval.Retry {
	if r.Retry != nil {
		return *r.Retry
	}
	return eval.DefaultRetry()
}

// Open makes a request ready: the servers are asked, and the run is begun or,
// with Resume, gone on with. What cannot be played is an [*tools.Error].
func (r Room) Open(ctx context.Context, request Request) (*Evaluation, error) {
	request, old, err := r.merge(ctx, request)
	if err != nil {
		return nil, err
	}
	items, scorer, err := r.prepare(ctx, request)
	if err != nil {
		return nil, err
	}
	servers, digest, err := request.servers(ctx, r.Specs)
	if err != nil {
		return nil, err
	}
	run, err := r.plan(request, items, digest)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Run: run, Planned: len(items) * run.Trials * len(run.Routes)}
	if old == nil {
		err = r.Store.Begin(ctx, run, request.Owner)
	} else {
		err = e.resume(ctx, r.Store, *old)
	}
	if err != nil {
		return nil, err
	}
	e.runner = &eval.Runner{Run: e.Run, Items: items, Servers: servers, Scorer: scorer, Ledger: r.Store, Kept: e.Kept, Retry: r.retry(), Now: r.Now, Logger: r.Logger,
		Budget: rollout.NewBudget(max(rollout.DefaultBudget, 2*int64(request.MaxReply)))}
	return e, e.runner.Validate()
}

// resume goes on with a run that is kept, if it is still the same.
func (e *Evaluation) resume(ctx context.Context, kept *store.Store, old eval.Run) (err error) {
	if err := same(old, e.Run); err != nil {
		return err
	}
	e.Run = old
	e.Kept, err = kept.Shortened(ctx, old.Name)
	return err
}

// solvable replays the references of the user's own questions: a mistake in
// them must not be held against a model. The environments' own tasks are
// checked by their tests.
func solvable(ctx context.Context, items []eval.Item, scorer *grpo.Scorer) error {
	for _, item := range items {
		if item.Expected == nil {
			continue
		}
		if err := item.Replay(ctx, scorer); err != nil {
			return err
		}
	}
	return nil
}

// merge completes a request by the run that it goes on with. What the request
// leaves at its default is the run's; what it says must agree with the run.
func (r Room) merge(ctx context.Context, request Request) (Request, *eval.Run, error) {
	asked := request
	request = request.WithDefaults()
	if !request.Resume {
		if request.Run == "" {
			request.Run = fmt.Sprintf("%s %s", plain.Slug(request.Model), r.Now().Format("2006-01-02 15:04:05"))
		}
		return request, nil, request.Validate()
	}
	if request.Run == "" {
		return request, nil, refusal.New("run", "the name of the run to go on with", "no run is named")
	}
	old, err := r.Store.Run(ctx, request.Run)
	if refusal.Is(err, tools.NotFound) && request.Model != "" {
		begins := request // it was stopped before it began
		begins.Resume = false
		return request, nil, begins.Validate()
	}
	if err != nil {
		return request, nil, err
	}
	var kept Request
	if err := json.Unmarshal(old.Request, &kept); err != nil {
		return request, nil, fmt.Errorf("reading the request of %s: %w", old.Name, err)
	}
	if err := agree(asked, kept); err != nil {
		return request, nil, err
	}
	merged := kept
	merged.Resume = true
	if len(asked.Ollama) > 0 || asked.OpenAI != "" {
		merged.Ollama, merged.OpenAI = asked.Ollama, asked.OpenAI
	}
	if asked.Concurrency != 0 {
		merged.Concurrency = asked.Concurrency
	}
	return merged, &old, merged.Validate()
}

// agree compares what was asked for with what the run began with, field by
// field; fields that were left out, and addresses, do not count.
func agree(asked, kept Request) error {
	asked.Ollama, asked.OpenAI, asked.Concurrency, asked.Resume, asked.Command = nil, "", 0, false, nil
	var have, want map[string]json.RawMessage
	for _, pair := range []struct {
		from Request
		to   *map[string]json.RawMessage
	}{{asked, &have}, {kept, &want}} {
		text, err := json.Marshal(pair.from)
		if err == nil {
			err = json.Unmarshal(text, pair.to)
		}
		if err != nil {
			return fmt.Errorf("comparing requests: %w", err)
		}
	}
	if asked.Seed == 0 {
		delete(have, "seed")
	}
	if asked.Model == "" {
		delete(have, "model")
	}
	for field, value := range have {
		if string(want[field]) != string(value) {
			return &tools.Error{Code: tools.Conflict, Where: field, Message: fmt.Sprintf("the run %s began with %s, not %s", kept.Run, shown(want[field]), shown(value)), Want: "the same settings, none at all, or another run"}
		}
	}
	return nil
}

func shown(value json.RawMessage) string {
	if len(value) == 0 {
		return "the default"
	}
	if len(value) > 80 {
		return string(value[:80]) + "…"
	}
	return string(value)
}

// plan is the run as the store keeps it.
func (r Room) plan(request Request, items []eval.Item, digest string) (eval.Run, error) {
	options, err := request.options()
	if err != nil {
		return eval.Run{}, err
	}
	kept, err := json.Marshal(request.withoutCredentials())
	if err != nil {
		return eval.Run{}, fmt.Errorf("encoding the request: %w", err)
	}
	run := eval.Run{Name: request.Run, Created: r.Now().UTC(), Model: request.Model, Digest: digest, Routes: request.routes(), Trials: request.Trials,
		Seed: request.sampling(), Options: options, Request: kept, Command: request.Command}
	for _, item := range items {
		task, err := item.RunTask()
		if err != nil {
			return eval.Run{}, err
		}
		run.Tasks = append(run.Tasks, task)
	}
	return run, nil
}

// same refuses to go on with a run that would not be the same any more.
func same(old, now eval.Run) error {
	conflict := func(where, message string) error {
		return &tools.Error{Code: tools.Conflict, Where: where, Message: message, Want: "another run"}
	}
	if old.Digest != now.Digest {
		return conflict("model", fmt.Sprintf("the model behind the name %s has changed since the run %s began (digest %s, now %s)", old.Model, old.Name, brief(old.Digest), brief(now.Digest)))
	}
	if len(old.Tasks) != len(now.Tasks) {
		return conflict("tasks", fmt.Sprintf("the run %s has %d tasks, the same request now makes %d", old.Name, len(old.Tasks), len(now.Tasks)))
	}
	for i, task := range old.Tasks {
		if task.Hash != now.Tasks[i].Hash {
			return conflict(task.ID, "the task is not what it was when the run began")
		}
	}
	return nil
}

func brief(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(12, len(digest))]
}

// Play plays what is missing. The observer is told of each trial that was kept,
// one at a time.
func (e *Evaluation) Play(ctx context.Context, observe func(eval.Trial)) error {
	e.runner.Observe = observe
	return e.runner.Play(ctx)
}
