package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Evaluation says which agent plays which tasks, how often, and how it is
// graded.
type Evaluation struct {
	Run    string // name of the run
	Model  string // name of what is evaluated
	Items  []eval.Item
	Trials int // per task; 0 means 1
	Seed   uint64
	Scorer *grpo.Scorer

	// New makes the agent of a trial, see [Driver]. Workers is the number of
	// concurrent trials; 0 means 1.
	New     func(seed int, recorder *Recorder) (tools.Agent, error)
	Workers int

	Source rand.Source      // of the bootstrap
	Clock  func() time.Time // nil means time.Now
}

// Evaluate plays every trial of every task, as "toolgym eval" does for a model
// and with the same seeds, and returns the trials and their summary. What fails
// in a trial is recorded in that trial: as a failure of the model, or with a
// reason that is not the model's. The error is that of an invalid evaluation,
// an environment or the context; the finished trials are returned with it.
func Evaluate(ctx context.Context, e Evaluation) ([]eval.Trial, eval.Summary, error) {
	if e.New == nil || e.Source == nil || e.Scorer == nil {
		return nil, eval.Summary{}, refusal.New("", "New, Source and Scorer", "incomplete evaluation")
	}
	if e.Clock == nil {
		e.Clock = time.Now
	}
	kept := &trialList{}
	runner := eval.Runner{
		Run:   eval.Run{Name: e.Run, Model: e.Model, Routes: []string{route}, Trials: max(e.Trials, 1), Seed: e.Seed, Created: e.Clock()},
		Items: e.Items, Scorer: e.Scorer, Ledger: kept, Now: e.Clock,
		Retry: eval.Retry{Attempts: 1},
		Servers: []eval.Server{{Address: "plugin", Concurrency: max(e.Workers, 1),
			Drivers: map[string]eval.Driver{route: Driver{New: e.New, Clock: e.Clock}}}},
	}
	for _, item := range e.Items {
		planned, err := item.RunTask()
		if err != nil {
			return nil, eval.Summary{}, err
		}
		runner.Run.Tasks = append(runner.Run.Tasks, planned)
	}
	err := runner.Play(ctx)
	return kept.trials, eval.Summarize(kept.trials, e.Source), err
}

// route names the way of playing in reports.
const route = "agent"

// trialList keeps trials in memory.
type trialList struct {
	mu     sync.Mutex
	trials []eval.Trial
}

func (l *trialList) Keep(_ context.Context, record eval.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trials = append(l.trials, record.Trial)
	return nil
}

// blame says who is responsible for an agent's error; nil if it is the model.
func blame(err error) *grpo.Failure {
	kind := grpo.FailureInfrastructure
	empty := (*emptyError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &empty) && empty.tokens == 0:
		return nil
	case errors.As(err, &empty):
		kind = grpo.FailureServing
	case errors.Is(err, modelserver.ErrTooLong):
		kind = grpo.FailureServing
	case errors.Is(err, errCut):
		kind = grpo.FailureHarness
	}
	return &grpo.Failure{Kind: kind, Reason: err.Error()}
}

// Driver plays tasks with an agent and records its messages, so that an
// [eval.Runner] can evaluate it like a model.
type Driver struct {
	// New makes the agent of a trial. It must pass the recorder
	// to the agent (AgentConfig.Callbacks): only what is recorded is graded.
	New   func(seed int, recorder *Recorder) (tools.Agent, error)
	Clock func() time.Time // nil means time.Now
}

var _ eval.Driver = Driver{}

// Run plays one task. A failure of the agent is in the transcript; the error is
// that of the context, the environment or New. Callbacks have no times of the
// model, so the last turn has the duration of the whole episode.
func (d Driver) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error) {
	if d.Clock == nil {
		d.Clock = time.Now
	}
	recorder := &Recorder{Task: task, Tools: env.Tools()}
	agent, err := d.New(seed, recorder)
	if err != nil {
		return rollout.Transcript{}, err
	}
	began := d.Clock()
	trajectory, err := tools.Rollout(ctx, env, task, agent)
	if fatal(ctx, err) {
		return rollout.Transcript{}, err
	}
	transcript, failed := recorder.transcript()
	if failed != nil {
		return rollout.Transcript{}, failed
	}
	transcript.Trajectory, transcript.Failure = trajectory, blame(err)
	if n := len(transcript.Turns); n > 0 {
		transcript.Turns[n-1].Duration = d.Clock().Sub(began)
	}
	return transcript, nil
}

// transcript converts the run to the form of evaluations.
func (r *Recorder) transcript() (rollout.Transcript, error) {
	completion, err := r.Completion()
	if err != nil {
		return rollout.Transcript{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := rollout.Transcript{Family: completion.Family, Messages: completion.Messages, FinishReason: completion.FinishReason}
	for _, said := range r.turns {
		body, err := json.Marshal(said.message())
		if err != nil {
			return rollout.Transcript{}, err
		}
		t.Turns = append(t.Turns, rollout.Turn{Body: string(body), PromptTokens: said.Prompted, OutputTokens: said.Tokens, DoneReason: said.Reason})
	}
	return t, nil
}
