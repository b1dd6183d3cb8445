package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
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

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Config describes the server. Only URL is required; the zero value of every
// other field means its default.
type Config struct {
	URL      string        // of the server, like http://127.0.0.1:8080
	Token    string        // of the server; empty if it has no tokens
	HTTP     *http.Client  // default: a client with 64 idle connections
	NewID    func() string // makes unique request ids; default crypto/rand.Text
	Attempts int           // maximum attempts per request; default 4
	Pause    time.Duration // before the second attempt, doubled for each further one; default 50 ms
}

// A Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	config Config
	tools  toolSetCache
}

// New makes a client. It sends nothing. An invalid configuration is a
// [*tools.Error] with code invalid.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" {
		return nil, refusal.New("URL", "a URL such as http://127.0.0.1:8080", "invalid URL %q", config.URL)
	}
	if config.Attempts < 0 || config.Pause < 0 {
		return nil, refusal.New("Attempts", "at least 1, or 0 for the default", "negative attempts or pause")
	}
	if config.HTTP == nil {
		config.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, Proxy: http.ProxyFromEnvironment}}
	}
	if config.NewID == nil {
		config.NewID = rand.Text
	}
	config.Attempts = cmp.Or(config.Attempts, 4)
	config.Pause = cmp.Or(config.Pause, 50*time.Millisecond)
	return &Client{base: base, config: config}, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.config.HTTP.CloseIdleConnections() }

// Envs lists the environments.
func (c *Client) Envs(ctx context.Context) ([]Env, error) {
	var answer Envs
	err := c.get(ctx, c.at("v1", "envs"), nil, &answer)
	return answer.Envs, err
}

// Tools lists the tools of a level; empty rules or level mean the default. An
// unknown environment is not_found, an unknown level invalid.
func (c *Client) Tools(ctx context.Context, env, rules, level string) (tools.Set, error) {
	var answer Tools
	err := c.get(ctx, c.at("v1", "envs", env, "tools"), query("rules", rules, "level", level), &answer)
	return answer.Tools, err
}

// Tasks lists the tasks of n consecutive seeds. It returns the errors of Tools.
func (c *Client) Tasks(ctx context.Context, env, rules, level string, seed uint64, n int) ([]tools.Task, error) {
	var answer Tasks
	q := query("rules", rules, "level", level, "seed", strconv.FormatUint(seed, 10), "n", strconv.Itoa(n))
	err := c.get(ctx, c.at("v1", "envs", env, "tasks"), q, &answer)
	return answer.Tasks, err
}

// CallTool calls a tool that needs no episode. A tool that needs one is a
// conflict, an unknown tool not_found.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error) {
	var answer tools.Result
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "tools", name, "calls"), body: Arguments{arguments}}, &answer)
	return answer, err
}

// Ready asks once whether the server is ready; it is unavailable otherwise.
func (c *Client) Ready(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodGet, to: c.at("readyz")}, nil)
}

// Episodes lists at most limit live episodes after the cursor, which is empty
// for the first page.
func (c *Client) Episodes(ctx context.Context, cursor string, limit int) (Page, error) {
	var page Page
	err := c.get(ctx, c.at("v1", "episodes"), query("cursor", cursor, "limit", strconv.Itoa(limit)), &page)
	return page, err
}

// Start starts an episode. An unknown environment is not_found, an invalid task
// id invalid, a full server exhausted.
func (c *Client) Start(ctx context.Context, taskID string) (*Episode, error) {
	return c.open(ctx, request{method: http.MethodPost, to: c.at("v1", "episodes"), body: Start{TaskID: taskID}})
}

// Open opens an existing episode: not_found, or gone if it has expired.
func (c *Client) Open(ctx context.Context, id string) (*Episode, error) {
	return c.open(ctx, request{method: http.MethodGet, to: c.at("v1", "episodes", id), repeat: true})
}

func (c *Client) open(ctx context.Context, r request) (*Episode, error) {
	state, err := c.state(ctx, r)
	if err != nil {
		return nil, err
	}
	state.Trajectory = nil
	return &Episode{client: c, state: state}, nil
}

// state requests the state of an episode; equal tool sets are compiled once.
func (c *Client) state(ctx context.Context, r request) (State, error) {
	var answer struct {
		State
		Tools json.RawMessage `json:"tools"` // stands for State.Tools
	}
	if err := c.send(ctx, r, &answer); err != nil {
		return State{}, err
	}
	var err error
	if answer.State.Tools, err = c.tools.decode(answer.Tools); err != nil {
		return State{}, fmt.Errorf("decoding the tools of episode %s: %w", answer.ID, err)
	}
	return answer.State, nil
}

// Play plays a task with an agent and returns the trajectory of the server. If
// the agent fails, the trajectory so far is returned with the error. The
// episode is always closed.
func (c *Client) Play(ctx context.Context, taskID string, agent tools.Agent) (tools.Trajectory, error) {
	e, err := c.Start(ctx, taskID)
	if err != nil {
		return tools.Trajectory{}, err
	}
	played := agent.Play(ctx, e.Task(), e.Observation(), e)
	if played != nil {
		played = fmt.Errorf("playing %s: %w", taskID, played)
	}
	// The steps so far are returned after a cancelled context as well.
	ctx = context.WithoutCancel(ctx)
	path, err := e.Trajectory(ctx)
	if closed := e.Close(ctx); err == nil {
		err = closed
	}
	if played != nil {
		return path, played
	}
	return path, err
}

// A request is what is sent, and whether it may be repeated.
type request struct {
	method, to string
	body       any // nil for none
	repeat     bool
}

// at returns the URL of a path whose parts are escaped.
func (c *Client) at(parts ...string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.TrimSuffix(c.base.String(), "/") + "/" + strings.Join(parts, "/")
}

// query makes a query of names and values in turn; empty values are left out.
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

// send sends a request, repeats it if that is allowed, and decodes the
// response; a *[]byte gets it undecoded.
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
		again, ok := errors.AsType[*retryable](err)
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

// longestWait is the longest Retry-After that the client waits for.
const longestWait = 30 * time.Second

// largestAnswer limits the size of a response; a larger one does not decode.
const largestAnswer = 256 << 20

// retryable is an error that may not occur at the next attempt.
type retryable struct {
	error
	wait time.Duration // minimum, as requested by the server
}

func (p *retryable) Unwrap() error { return p.error }

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
	c.setHeaders(out, kind)
	response, err := c.config.HTTP.Do(out)
	if err != nil {
		return connectionError(ctx, fmt.Errorf("asking the server: %w", err))
	}
	received, err := readBody(response)
	if err != nil {
		return connectionError(ctx, fmt.Errorf("reading the answer to %s %s: %w", r.method, r.to, err))
	}
	if response.StatusCode >= 300 {
		return responseError(response, received)
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

// setHeaders sets the headers of a request whose body has a media type, if it
// has a body.
func (c *Client) setHeaders(r *http.Request, kind string) {
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.config.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	r.Header.Set("Accept", "application/json, application/problem+json")
}

// readBody reads a body to its end.
func readBody(response *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	return text, errors.Join(err, response.Body.Close())
}

// connectionError is the error of a connection; it is retryable unless the
// context has ended.
func connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &retryable{error: err}
}

// responseError is the error of a response with an error status.
func responseError(response *http.Response, text []byte) error {
	err := fmt.Errorf("the server answered %s", response.Status)
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if problem := (Problem{}); media == "application/problem+json" && json.Unmarshal(text, &problem) == nil {
		err = problem.Err()
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if absent or a date
		return &retryable{err, time.Duration(max(0, seconds)) * time.Second}
	}
	return err
}

// withoutRetry removes the mark of a retryable error.
func withoutRetry(err error) error {
	if again, ok := errors.AsType[*retryable](err); ok {
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
