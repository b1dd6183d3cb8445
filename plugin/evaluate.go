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
	Run    string // a name for the run
	Model  string // and for what is evaluated
	Items  []eval.Item
	Trials int // of each task; 0 means 1
	Seed   uint64
	Scorer *grpo.Scorer

	// New makes the agent of a trial, see [Driver]. Workers trials are played
	// at a time; 0 means 1.
	New     func(seed int, recorder *Recorder) (tools.Agent, error)
	Workers int

	Source rand.Source      // of the bootstrap's draws
	Clock  func() time.Time // nil means time.Now
}

// Evaluate plays every trial of every task, as "toolgym eval" plays a model,
// with the same seeds, and returns the trials and what they amount to. What goes
// wrong in a trial is that trial's: the model's failure, or a reason that is not
// the model's. The error is a mistake in the evaluation itself, an
// environment's, or the context's; the trials that are done come with it.
func Evaluate(ctx context.Context, e Evaluation) ([]eval.Trial, eval.Summary, error) {
	if e.New == nil || e.Source == nil || e.Scorer == nil {
		return nil, eval.Summary{}, refusal.New("", "all three", "an evaluation lacks New, Source or Scorer")
	}
	if e.Clock == nil {
		e.Clock = time.Now
	}
	kept := &ledger{}
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

// ledger keeps trials in memory.
type ledger struct {
	mu     sync.Mutex
	trials []eval.Trial
}

func (l *ledger) Keep(_ context.Context, record eval.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trials = append(l.trials, record.Trial)
	return nil
}

// blame says whose fault an agent's error is: the model's own is no failure.
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

// Driver plays tasks by an agent and writes down what it said, so that an
// [eval.Runner] can evaluate it beside models.
type Driver struct {
	// New makes the agent of a trial. It must fire its callbacks at the
	// recorder (AgentConfig.Callbacks): what is not recorded can not be graded.
	New   func(seed int, recorder *Recorder) (tools.Agent, error)
	Clock func() time.Time // nil means time.Now
}

var _ eval.Driver = Driver{}

// Run plays one task. The agent's failure stands in the transcript; an error is
// the context's, the environment's or that of New. Callbacks do not time the
// model: the time of the whole episode stands at its last turn.
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
	if hopeless(ctx, err) {
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

// transcript is the run in the form in which evaluations keep it.
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
