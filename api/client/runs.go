package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"toolgym/grpo/eval"
	"toolgym/internal/sse"
)

// StartPolicyRun starts a training. Invalid settings are invalid; a server with
// the maximum number of trainings is exhausted.
func (c *Client) StartPolicyRun(ctx context.Context, start PolicyRunStart) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs"), body: start})
}

// PolicyRuns lists the trainings of the caller, newest first.
func (c *Client) PolicyRuns(ctx context.Context) ([]PolicyRun, error) {
	var answer struct {
		Runs []PolicyRun `json:"runs"`
	}
	err := c.get(ctx, c.at("v1", "policy", "runs"), nil, &answer)
	return answer.Runs, err
}

// PolicyRun returns the state of a training; not_found without one.
func (c *Client) PolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodGet, to: c.at("v1", "policy", "runs", id), repeat: true})
}

// PausePolicyRun pauses a training after its current update; one that is not
// running is a conflict.
func (c *Client) PausePolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs", id, "pause")})
}

// ResumePolicyRun continues a training; one that is not paused is a conflict.
func (c *Client) ResumePolicyRun(ctx context.Context, id string) (PolicyRun, error) {
	return c.policyRun(ctx, request{method: http.MethodPost, to: c.at("v1", "policy", "runs", id, "resume")})
}

// CancelPolicyRun cancels a running training, which is kept, and deletes one
// that has ended.
func (c *Client) CancelPolicyRun(ctx context.Context, id string) error {
	return c.send(ctx, request{method: http.MethodDelete, to: c.at("v1", "policy", "runs", id)}, nil)
}

// WatchPolicyRun yields the telemetry of a training after the event with the
// given number, 0 for all: past events at once, then each update when it is
// made, and at the end an event named end, with the run. See [Event] for
// connections that break.
func (c *Client) WatchPolicyRun(ctx context.Context, id string, after int) iter.Seq2[Event, error] {
	return c.watch(ctx, c.at("v1", "policy", "runs", id, "events"), after)
}

// Act plans a task with the policy of a run, or with the server's own if run is
// empty. Without samples it plans once, greedily; otherwise it draws that
// number of plans from the seed. It is a conflict if the server has no policy
// for the level, or the run was trained for another environment.
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

// StartEval starts or resumes an evaluation. An invalid request is invalid, a
// name in use a conflict, an unknown model unavailable.
func (c *Client) StartEval(ctx context.Context, evaluation EvaluationRequest) (Evaluation, error) {
	var begun Evaluation
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "evals"), body: evaluation}, &begun)
	return begun, err
}

// Evals lists the evaluations of the caller, newest first.
func (c *Client) Evals(ctx context.Context) ([]Evaluation, error) {
	var answer struct {
		Evals []Evaluation `json:"evals"`
	}
	err := c.get(ctx, c.at("v1", "evals"), nil, &answer)
	return answer.Evals, err
}

// Eval returns the state of an evaluation; not_found without one.
func (c *Client) Eval(ctx context.Context, name string) (Evaluation, error) {
	var evaluation Evaluation
	err := c.get(ctx, c.at("v1", "evals", name), nil, &evaluation)
	return evaluation, err
}

// WatchEval yields the trials of an evaluation ([eval.Trial]) as WatchPolicyRun
// does updates.
func (c *Client) WatchEval(ctx context.Context, name string, after int) iter.Seq2[Event, error] {
	return c.watch(ctx, c.at("v1", "evals", name, "events"), after)
}

// EvalReport returns the report of an evaluation as text, md, html, json, csv
// or junit.
func (c *Client) EvalReport(ctx context.Context, name, format string) ([]byte, error) {
	var report []byte
	err := c.get(ctx, c.at("v1", "evals", name, "report"), query("format", format), &report)
	return report, err
}

// CompareEvals compares the second of two evaluations with the first.
func (c *Client) CompareEvals(ctx context.Context, first, second string) (eval.Comparison, error) {
	var comparison eval.Comparison
	err := c.get(ctx, c.at("v1", "evals", first, "compare"), query("with", second), &comparison)
	return comparison, err
}

// CancelEval stops a running evaluation, which can be resumed, and deletes one
// that is not running.
func (c *Client) CancelEval(ctx context.Context, name string) error {
	return c.send(ctx, request{method: http.MethodDelete, to: c.at("v1", "evals", name)}, nil)
}

// An Event is one of a stream of Server-Sent Events. The last event of a stream
// is named end; a sequence that ends without it has an error.
//
// A broken connection is opened again after the last event, as often as
// [Config] allows for each event: no event is lost, and none comes twice.
// Events are read at the speed of the caller.
type Event struct {
	ID   int             // its number, from 1; the last has that of the one before
	Name string          // empty, or end
	Data json.RawMessage // JSON
}

const endEvent = "end"

// stableAfter is the duration after which a connection counts as a success.
const stableAfter = 30 * time.Second

// watch yields events until the last one, or until the caller stops.
func (c *Client) watch(ctx context.Context, to string, after int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		pause, failures := c.config.Pause, 0
		for {
			done, begun := false, time.Now()
			err := c.listen(ctx, to, after, func(e Event) bool {
				after, failures, pause = e.ID, 0, c.config.Pause
				done = !yield(e, nil) || e.Name == endEvent
				return !done
			})
			if time.Since(begun) >= stableAfter { // the server ends streams in which nothing comes
				failures, pause = 0, c.config.Pause
			}
			again := (*retryable)(nil)
			failures++
			switch {
			case done:
				return
			case !errors.As(err, &again):
			case failures >= c.config.Attempts || again.wait > longestWait:
				err = again.error
			default:
				if err = sleep(ctx, max(pause, again.wait)); err == nil {
					pause *= 2
					continue
				}
			}
			yield(Event{}, err)
			return
		}
	}
}

// listen passes the events of one connection to take until it returns false. A
// connection that ends before is a retryable error.
func (c *Client) listen(ctx context.Context, to string, after int, take func(Event) bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	c.setHeaders(r, "")
	r.Header.Set("Accept", "text/event-stream, application/problem+json")
	if after != 0 {
		r.Header.Set("Last-Event-ID", strconv.Itoa(after))
	}
	response, err := c.config.HTTP.Do(r)
	if err != nil {
		return connectionError(ctx, fmt.Errorf("asking the server: %w", err))
	}
	if response.StatusCode >= 300 {
		received, err := readBody(response)
		if err != nil {
			return connectionError(ctx, fmt.Errorf("reading the answer to %s: %w", to, err))
		}
		return responseError(response, received)
	}
	err = readEvents(response.Body, take)
	_ = response.Body.Close() // what was read is whole
	if err != nil {
		return connectionError(ctx, fmt.Errorf("reading events of %s: %w", to, err))
	}
	return nil
}

// readEvents passes events to take until it returns false; a stream that ends
// before is incomplete.
func readEvents(from io.Reader, take func(Event) bool) error {
	for e, err := range sse.Read(io.LimitReader(from, largestAnswer)) {
		if err != nil {
			return err
		}
		id := 0
		if e.ID != "" {
			if id, err = strconv.Atoi(e.ID); err != nil {
				return fmt.Errorf("the id of an event: %w", err)
			}
		}
		if !take(Event{ID: id, Name: e.Name, Data: e.Data}) {
			return nil
		}
	}
	return io.ErrUnexpectedEOF
}
