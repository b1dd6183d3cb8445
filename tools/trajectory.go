package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Trajectory is an episode as it was played. It holds no clock and no
// address: the same task and calls give the same bytes.
type Trajectory struct {
	Task        Task            `json:"task"`
	Observation json.RawMessage `json:"observation"`
	Steps       []Step          `json:"steps"`
	Return      float64         `json:"return"` // the sum of the steps' rewards
	Terminated  bool            `json:"terminated"`
	Truncated   bool            `json:"truncated"`
	Success     bool            `json:"success"`
}

// Rollout resets the environment to the task, lets the agent play, and returns
// what happened. On an error the trajectory up to it is returned as well.
func Rollout(ctx context.Context, env Env, task Task, agent Agent) (Trajectory, error) {
	observation, err := env.Reset(ctx, task)
	if err != nil {
		return Trajectory{Task: task}, fmt.Errorf("resetting to %s: %w", task.ID, err)
	}
	r := &recorder{env: env, trajectory: Trajectory{Task: task, Observation: observation, Steps: []Step{}}}
	err = agent.Play(ctx, task, observation, r)
	r.trajectory.Success = env.Success()
	if err != nil {
		return r.trajectory, fmt.Errorf("playing %s: %w", task.ID, err)
	}
	return r.trajectory, nil
}

// recorder is the Caller that Rollout hands to the agent.
type recorder struct {
	env        Env
	trajectory Trajectory
}

var _ interface {
	Caller
	Speaker
} = (*recorder)(nil)

func (r *recorder) Tools() Set { return r.env.Tools() }

func (r *recorder) Step(ctx context.Context, call Call) (Step, error) {
	step, err := r.env.Step(ctx, call)
	if err == nil {
		r.keep(step)
	}
	return step, err
}

// Say passes the message on where the environment judges what is said, and
// otherwise only records it.
func (r *recorder) Say(ctx context.Context, text string) (Step, error) {
	speaker, ok := r.env.(Speaker)
	if !ok {
		step := Transition(Call{}, Result{}, 0).Spoken(text)
		r.keep(step)
		return step, nil
	}
	step, err := speaker.Say(ctx, text)
	if err == nil {
		r.keep(step)
	}
	return step, err
}

func (r *recorder) keep(step Step) {
	r.trajectory.Steps = append(r.trajectory.Steps, step)
	r.trajectory.Return += step.Reward
	r.trajectory.Terminated, r.trajectory.Truncated = step.Terminated, step.Truncated
}
