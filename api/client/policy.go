package client

import (
	"context"
	"iter"
	"net/http"
)

// StartPolicyRun starts a training. The start is the body of POST
// /v1/policy/runs: a map of its fields, or a struct. What makes no sense is
// invalid, a server that trains enough already exhausted.
func (c *Client) StartPolicyRun(ctx context.Context, start any) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs"), body: start})
}

// PolicyRuns lists the trainings that are the caller's, the newest first.
func (c *Client) PolicyRuns(ctx context.Context) ([]PolicyRun, error) {
	var answer struct {
		Runs []PolicyRun `json:"runs"`
	}
	err := c.get(ctx, c.at("v1", "policy", "runs"), nil, &answer)
	return answer.Runs, err
}

// PolicyRun tells how a training stands; not_found when there is none.
func (c *Client) PolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodGet, to: c.at("v1", "policy", "runs", id), repeat: true})
}

// PausePolicyRun holds a training at the end of the update that it is at; one
// that is not running is a conflict.
func (c *Client) PausePolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs", id, "pause")})
}

// ResumePolicyRun lets a training go on; one that is not paused is a conflict.
func (c *Client) ResumePolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs", id, "resume")})
}

// CancelPolicyRun ends a training that is under way, which stays as cancelled,
// and deletes one that has ended.
func (c *Client) CancelPolicyRun(ctx context.Context, id string) error {
	return c.send(ctx, request{method: http.MethodDelete, to: c.at("v1", "policy", "runs", id)}, nil)
}

// WatchPolicyRun yields the telemetry of a training from behind the event that
// after numbers, 0 being the beginning: what came before at once, then each
// update as it is made, and at the end one named end, with the run. See [Event]
// for what a broken connection does.
func (c *Client) WatchPolicyRun(ctx context.Context, id string, after int) iter.Seq2[Event, error] {
	return c.watch(ctx, c.at("v1", "policy", "runs", id, "events"), after)
}

// Act lets a policy plan a task: that of a run, or the server's own where run is
// empty. Without samples it plans once, greedily; otherwise so many plans are
// drawn, from the seed. A server that has no policy for the task's level, or one
// that was trained for another environment, is a conflict.
func (c *Client) Act(ctx context.Context, taskID, run string, samples int, seed uint64) (Plans, error) {
	body := struct {
		TaskID  string `json:"task_id"`
		Run     string `json:"run,omitempty"`
		Samples int    `json:"samples,omitempty"`
		Seed    uint64 `json:"seed,omitempty"`
	}{taskID, run, samples, seed}
	var plans Plans
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "act"), body: body, repeat: true}, &plans)
	return plans, err
}

func (c *Client) policyRun(ctx context.Context, r request) (PolicyRun, error) {
	var run PolicyRun
	err := c.send(ctx, r, &run)
	return run, err
}
