package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"toolgym/api/dialect"
	"toolgym/api/dialect/trl"
	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/grpo/parse"
)

// Parse reads the calls of one completion. An invalid completion is an error
// with code invalid and its place.
func (c *Client) Parse(ctx context.Context, r parse.Request) (parse.Reading, error) {
	var reading parse.Reading
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "parse"), body: r, repeat: true}, &reading)
	return reading, err
}

// Score scores groups of completions. An invalid request is invalid, an unknown
// environment not_found; a server that is busy is asked again.
func (c *Client) Score(ctx context.Context, r grpo.Request) (grpo.Response, error) {
	var response grpo.Response
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "score"), body: r, repeat: true}, &response)
	return response, err
}

// ScoreStream sends lines ([grpo.Line]), the members of a group next to each
// other, and returns the answers while lines are being sent: one line
// ([grpo.ScoredLine]) per line, in the same order. The settings are a request
// without groups; the server's defaults apply to fields that are not set.
//
// A group is answered when the next one begins or the lines end, and
// ScoreStream returns with the first answer: write the lines in another
// goroutine. The caller closes the returned reader. If it ends with an error,
// the server did not process all lines.
func (c *Client) ScoreStream(ctx context.Context, lines io.Reader, settings grpo.Request) (io.ReadCloser, error) {
	q := query("normalization", string(settings.Normalization), "aggregation", string(settings.Aggregation))
	if settings.Rubric != nil {
		text, err := json.Marshal(settings.Rubric)
		if err != nil {
			return nil, fmt.Errorf("encoding the rubric: %w", err)
		}
		q.Set("rubric", string(text))
	}
	if settings.Loss != nil {
		text, err := json.Marshal(settings.Loss)
		if err != nil {
			return nil, fmt.Errorf("encoding the loss: %w", err)
		}
		q.Set("loss", string(text))
	}
	to := c.at("v1", "score", "stream")
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, to, lines)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	c.setHeaders(out, "application/x-ndjson")
	response, err := c.config.HTTP.Do(out)
	if err != nil {
		return nil, fmt.Errorf("asking the server: %w", err)
	}
	if response.StatusCode < 300 {
		return response.Body, nil
	}
	received, err := readBody(response)
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s: %w", to, err)
	}
	return nil, withoutRetry(responseError(response, received))
}

// GetReward sends a request of OpenRLHF. A null reward is unavailable, with the
// reason, and is requested again.
func (c *Client) GetReward(ctx context.Context, q dialect.RewardQuery) (dialect.Rewards, error) {
	var rewards dialect.Rewards
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("get_reward"), body: q, repeat: true}, &rewards)
	return rewards, err
}

// Audit runs the attacks against a rubric, or against the default one if it is
// nil, and returns their rewards. An invalid rubric is invalid.
func (c *Client) Audit(ctx context.Context, rubric *grpo.Rubric) (audit.Report, error) {
	var report audit.Report
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "audit"), body: Audit{rubric}, repeat: true}, &report)
	return report, err
}

// ExportTRL returns a Python program that trains a model with TRL's GRPOTrainer
// and the given reward. Invalid settings are invalid, an unknown environment
// not_found.
func (c *Client) ExportTRL(ctx context.Context, settings trl.Settings) ([]byte, error) {
	var script []byte
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "export", "trl"), body: settings, repeat: true}, &script)
	return script, err
}
