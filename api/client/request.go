package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A request is what is sent, and whether it may be sent again.
type request struct {
	method, to string
	body       any // nil for none
	repeat     bool
}

// at is the URL of a path, each part escaped.
func (c *Client) at(parts ...string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.TrimSuffix(c.base.String(), "/") + "/" + strings.Join(parts, "/")
}

// query is made of names and values in turn; empty values are left out.
func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values
}

func (c *Client) get(ctx context.Context, to string, q url.Values, answer any) error {
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return c.send(ctx, request{method: http.MethodGet, to: to, repeat: true}, answer)
}

// send sends a request, again where it may, and decodes the answer; a *[]byte
// takes it as it is.
func (c *Client) send(ctx context.Context, r request, answer any) error {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("encoding the request to %s: %w", r.to, err)
		}
	}
	pause := c.config.Pause
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, r, text, answer)
		again, ok := errors.AsType[*passing](err)
		if !ok {
			return err
		}
		if !r.repeat || attempt >= c.config.Attempts || again.wait > longestWait {
			return again.error
		}
		if err := sleep(ctx, max(pause, again.wait)); err != nil {
			return errors.Join(err, again.error)
		}
		pause *= 2
	}
}

// longestWait is how long a server may ask to wait before its refusal is
// returned instead.
const longestWait = 30 * time.Second

// largestAnswer bounds what is read of an answer; one that is cut off by it does
// not decode.
const largestAnswer = 256 << 20

// passing is an error that may be over at the next attempt.
type passing struct {
	error
	wait time.Duration // at least; what the server asked for
}

func (p *passing) Unwrap() error { return p.error }

// once sends a request once.
func (c *Client) once(ctx context.Context, r request, text []byte, answer any) error {
	out, err := http.NewRequestWithContext(ctx, r.method, r.to, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	kind := ""
	if r.body != nil {
		kind = "application/json"
	}
	c.dress(out, kind)
	response, err := c.config.HTTP.Do(out)
	if err != nil {
		return broken(ctx, fmt.Errorf("asking the server: %w", err))
	}
	received, err := received(response)
	if err != nil {
		return broken(ctx, fmt.Errorf("reading the answer to %s %s: %w", r.method, r.to, err))
	}
	if response.StatusCode >= 300 {
		return refused(response, received)
	}
	switch answer := answer.(type) {
	case nil:
		return nil
	case *[]byte:
		*answer = received
		return nil
	}
	if err := json.Unmarshal(received, answer); err != nil {
		return fmt.Errorf("decoding the answer to %s %s: %w", r.method, r.to, err)
	}
	return nil
}

// dress sets the headers of a request whose body is of a kind, if it has one.
func (c *Client) dress(r *http.Request, kind string) {
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.config.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	r.Header.Set("Accept", "application/json, application/problem+json")
}

// received reads a body to its end.
func received(response *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	return text, errors.Join(err, response.Body.Close())
}

// broken is a failure of the network, which may pass unless the caller gave up.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &passing{error: err}
}

// refused is the error that an answer other than success stands for.
func refused(response *http.Response, text []byte) error {
	err := fmt.Errorf("the server answered %s", response.Status)
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if problem := (Problem{}); media == "application/problem+json" && json.Unmarshal(text, &problem) == nil {
		err = problem.Err()
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // absent or a date: our own pause
		return &passing{err, time.Duration(max(0, seconds)) * time.Second}
	}
	return err
}

// plain is a refusal to which the question is not repeated.
func plain(err error) error {
	if again, ok := errors.AsType[*passing](err); ok {
		return again.error
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to try again: %w", ctx.Err())
	}
}
