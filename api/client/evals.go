package client

import (
	"context"
	"iter"
	"net/http"

	"toolgym/grpo/eval"
)

// BeginEval begins an evaluation, or goes on with one. The evaluation is the
// body of POST /v1/evals: a map of its fields, or a struct. What makes no sense is
// invalid, a name that is taken a conflict, a model that nobody has unavailable.
func (c *Client) BeginEval(ctx context.Context, evaluation any) (Evaluation, error) {
	var begun Evaluation
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "evals"), body: evaluation}, &begun)
	return begun, err
}

// Evals lists the evaluations that are the caller's, the newest first.
func (c *Client) Evals(ctx context.Context) ([]Evaluation, error) {
	var answer struct {
		Evals []Evaluation `json:"evals"`
	}
	err := c.get(ctx, c.at("v1", "evals"), nil, &answer)
	return answer.Evals, err
}

// Eval tells how an evaluation stands; not_found when there is none.
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

// EvalReport returns the report of an evaluation as text, md, html, json, csv or
// junit.
func (c *Client) EvalReport(ctx context.Context, name, format string) ([]byte, error) {
	var report []byte
	err := c.get(ctx, c.at("v1", "evals", name, "report"), query("format", format), &report)
	return report, err
}

// CompareEvals says whether the second of two evaluations passes more often.
func (c *Client) CompareEvals(ctx context.Context, first, second string) (eval.Comparison, error) {
	var comparison eval.Comparison
	err := c.get(ctx, c.at("v1", "evals", first, "compare"), query("with", second), &comparison)
	return comparison, err
}

// CancelEval stops an evaluation that is under way, which can be gone on with,
// and deletes one that is not.
func (c *Client) CancelEval(ctx context.Context, name string) error {
	return c.send(ctx, request{method: http.MethodDelete, to: c.at("v1", "evals", name)}, nil)
}
