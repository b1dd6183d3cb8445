package plugin

import (
	"context"
	"encoding/json"
	"time"

	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

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
