package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Config says which server to speak to. Only URL must be set; of every other
// field, zero takes the default that it names.
type Config struct {
	URL      string        // of the server, like http://127.0.0.1:8080
	Token    string        // that the server asks for; empty for a server without tokens
	HTTP     *http.Client  // what sends the requests; default one of its own, with 64 idle connections
	NewID    func() string // makes request ids, never the same twice; default crypto/rand.Text
	Attempts int           // how often at most a request is sent that may be repeated; default 4
	Pause    time.Duration // before the first repetition, doubled for each further one; default 50 ms
}

// A Client speaks to one server. It may be used by many goroutines.
type Client struct {
	base   *url.URL
	config Config
	known  toolsets
}

// New makes a client. It sends nothing. A URL that is none, or another value
// that makes no sense, is an [*tools.Error] with code invalid.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" {
		return nil, refusal.New("URL", "something like http://127.0.0.1:8080", "%q is no server's URL", config.URL)
	}
	if config.Attempts < 0 || config.Pause < 0 {
		return nil, refusal.New("Attempts", "a positive one, or zero for the default", "a negative number of attempts, or pause")
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

// Close lets go of the idle connections.
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

// Tasks lists the tasks of n seeds, from the given one on. Errors as of Tools.
func (c *Client) Tasks(ctx context.Context, env, rules, level string, seed uint64, n int) ([]tools.Task, error) {
	var answer Tasks
	q := query("rules", rules, "level", level, "seed", strconv.FormatUint(seed, 10), "n", strconv.Itoa(n))
	err := c.get(ctx, c.at("v1", "envs", env, "tasks"), q, &answer)
	return answer.Tasks, err
}

// CallTool calls a tool that needs no episode. One that does is a conflict, an
// unknown one not_found.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error) {
	var answer tools.Result
	err := c.send(ctx, request{method: http.MethodPost, to: c.at("v1", "tools", name, "calls"), body: Arguments{arguments}}, &answer)
	return answer, err
}

// Ready asks once whether the server takes work; unavailable while it does not.
func (c *Client) Ready(ctx context.Context) error {
	return c.send(ctx, request{method: http.MethodGet, to: c.at("readyz")}, nil)
}

// Episodes lists up to limit live episodes after the cursor, which is empty for
// the first page.
func (c *Client) Episodes(ctx context.Context, cursor string, limit int) (Page, error) {
	var page Page
	err := c.get(ctx, c.at("v1", "episodes"), query("cursor", cursor, "limit", strconv.Itoa(limit)), &page)
	return page, err
}

// Start begins an episode of a task. An unknown environment is not_found, a
// task id that means nothing invalid, a server that is full exhausted.
func (c *Client) Start(ctx context.Context, taskID string) (*Episode, error) {
	return c.open(ctx, request{method: http.MethodPost, to: c.at("v1", "episodes"), body: Start{TaskID: taskID}})
}

// Open goes on with an episode that is there already: not_found, or gone when
// it has expired.
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

// state asks for an episode's state; its tools are compiled once.
func (c *Client) state(ctx context.Context, r request) (State, error) {
	var answer struct {
		State
		Tools json.RawMessage `json:"tools"` // stands for State.Tools
	}
	if err := c.send(ctx, r, &answer); err != nil {
		return State{}, err
	}
	var err error
	if answer.State.Tools, err = c.known.decode(answer.Tools); err != nil {
		return State{}, fmt.Errorf("decoding the tools of episode %s: %w", answer.ID, err)
	}
	return answer.State, nil
}

// Play lets an agent play a task from its beginning, and returns the trajectory
// as the server kept it. On an error of the agent, the trajectory up to it is
// returned as well. The episode is closed in any case.
func (c *Client) Play(ctx context.Context, taskID string, agent tools.Agent) (tools.Trajectory, error) {
	e, err := c.Start(ctx, taskID)
	if err != nil {
		return tools.Trajectory{}, err
	}
	played := agent.Play(ctx, e.Task(), e.Observation(), e)
	if played != nil {
		played = fmt.Errorf("playing %s: %w", taskID, played)
	}
	// What was played is worth having after a cancelled context too.
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
