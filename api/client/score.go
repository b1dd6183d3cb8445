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

// Parse reads the calls of one completion. A completion that makes no sense is
// invalid, and the error says where.
func (c *Client) Parse(ctx context.Context, r parse.Request) (parse.Reading, error) {
	var reading parse.Reading
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "parse"), body: r, repeat: true}, &reading)
	return reading, err
}

// Score scores groups of completions. A request that makes no sense is invalid,
// an unknown environment not_found; a server that has too much to score is asked
// again.
func (c *Client) Score(ctx context.Context, r grpo.Request) (grpo.Response, error) {
	var response grpo.Response
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "score"), body: r, repeat: true}, &response)
	return response, err
}

// ScoreStream sends lines ([grpo.Line]), the members of a group as neighbours,
// and returns the answers as they come: a line ([grpo.ScoredLine]) for each, in
// the same order. The settings say how, as a request without groups; what they
// leave out is the server's own.
//
// A group is answered when the next one begins or the lines end, and ScoreStream
// returns with the first answer: who writes the lines does so in another
// goroutine. The caller closes what is returned; where it ends with an error,
// the server did not get to the end.
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
	c.dress(out, "application/x-ndjson")
	response, err := c.config.HTTP.Do(out)
	if err != nil {
		return nil, fmt.Errorf("asking the server: %w", err)
	}
	if response.StatusCode < 300 {
		return response.Body, nil
	}
	received, err := received(response)
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s: %w", to, err)
	}
	return nil, plain(refused(response, received))
}

// GetReward asks as OpenRLHF does. A null reward is unavailable, with the
// reason, and is asked for again.
func (c *Client) GetReward(ctx context.Context, q dialect.RewardQuery) (dialect.Rewards, error) {
	var rewards dialect.Rewards
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("get_reward"), body: q, repeat: true}, &rewards)
	return rewards, err
}

// Audit attacks a rubric, or the default one when it is nil, and reports what
// each attack is paid. A rubric that makes no sense is invalid.
func (c *Client) Audit(ctx context.Context, rubric *grpo.Rubric) (audit.Report, error) {
	var report audit.Report
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "audit"), body: Audit{rubric}, repeat: true}, &report)
	return report, err
}

// ExportTRL returns a Python program that trains a model with TRL's GRPOTrainer
// under the settings' reward. Settings that make no sense are invalid, an
// environment that the server does not have not_found.
func (c *Client) ExportTRL(ctx context.Context, settings trl.Settings) ([]byte, error) {
	var script []byte
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "export", "trl"), body: settings, repeat: true}, &script)
	return script, err
}
