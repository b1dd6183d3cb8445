package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// Chat is one model on one Ollama server, asked at /api/chat. Options that are
// nil are not sent, so that the model's own defaults hold. A Chat is safe for
// concurrent use.
type Chat struct {
	URL         string          // base address, such as http://127.0.0.1:11434
	Model       string          // name, with its tag where it has one
	NumCtx      int             // context in tokens; always sent
	NumPredict  int             // most tokens of one turn; 0 leaves it to the server
	Temperature *float64        // nil: the model's own
	Format      json.RawMessage // a JSON Schema that constrains the output; nil: none
	MaxTurns    int             // assistant turns a task
	Timeout     time.Duration   // of one turn
	HTTP        *http.Client    // nil: http.DefaultClient
}

// The defaults of [Chat.Validate].
const (
	DefaultNumCtx   = 4096
	DefaultMaxTurns = 20
	DefaultTimeout  = 5 * time.Minute
)

// WithDefaults fills in the fields that are zero and have a default.
func (c Chat) WithDefaults() Chat {
	if c.NumCtx == 0 {
		c.NumCtx = DefaultNumCtx
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = DefaultMaxTurns
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return c
}

// Validate reports a configuration that can not be used.
func (c Chat) Validate() error {
	refuse := func(where, message, want string) error {
		return &tools.Error{Code: tools.Invalid, Where: where, Message: message, Want: want}
	}
	switch {
	case c.URL == "":
		return refuse("url", "no server is named", "a URL such as http://127.0.0.1:11434")
	case c.Model == "":
		return refuse("model", "no model is named", "a name that the server lists")
	case c.NumCtx < 1:
		return refuse("num_ctx", fmt.Sprintf("%d tokens of context", c.NumCtx), "at least 1")
	case c.NumPredict < 0:
		return refuse("num_predict", fmt.Sprintf("%d tokens a turn", c.NumPredict), "at least 1, or 0 for the server's own limit")
	case c.MaxTurns < 1:
		return refuse("max_turns", fmt.Sprintf("%d turns", c.MaxTurns), "at least 1")
	case c.Timeout <= 0:
		return refuse("timeout", c.Timeout.String(), "a time above zero")
	case c.Temperature != nil && *c.Temperature < 0:
		return refuse("temperature", fmt.Sprint(*c.Temperature), "0 or more")
	}
	return nil
}

// A Turn is one reply of the server.
type Turn struct {
	Status       int           `json:"status"`
	Body         string        `json:"body"` // as it came
	PromptTokens int           `json:"prompt_tokens"`
	OutputTokens int           `json:"output_tokens"`
	DoneReason   string        `json:"done_reason,omitempty"`
	Duration     time.Duration `json:"duration_ns"`
}

// A Transcript is what model and environment said to each other on one task.
type Transcript struct {
	Messages     []json.RawMessage `json:"messages"` // after the prompt: the assistant's as they came, and the tools' results
	Turns        []Turn            `json:"turns"`
	FinishReason string            `json:"finish_reason"` // of the last turn; "length" is a cut-off
	Trajectory   tools.Trajectory  `json:"trajectory"`
	Failure      *grpo.Failure     `json:"failure"` // not the model's fault: can't be graded
}

// Completion is the transcript as the grader takes it.
func (t Transcript) Completion() grpo.Completion {
	return grpo.Completion{Messages: t.Messages, Family: parse.Structured, FinishReason: t.FinishReason, Failure: t.Failure}
}

// Run plays the task: the model is asked, its calls are made, their results
// are sent back, until the episode is over, the model calls nothing, or MaxTurns
// is reached. An error means that the rollout itself is at fault; what the
// server or the model did wrong stands in the transcript.
func (c Chat) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (Transcript, error) {
	d := c.Dialogue(seed)
	trajectory, err := tools.Rollout(ctx, env, task, d)
	d.Trajectory = trajectory
	if ctx.Err() != nil {
		return d.Transcript, fmt.Errorf("rolling out %s: %w", task.ID, ctx.Err())
	}
	return d.Transcript, err
}

// A Dialogue is the model as an agent of one episode: whoever plays it, over
// REST for instance, finds the transcript in it afterwards. Its Trajectory is
// filled in by [Chat.Run] only.
type Dialogue struct {
	Transcript
	chat   Chat
	seed   int
	reader *parse.Reader
}

var _ tools.Agent = (*Dialogue)(nil)

// Dialogue begins a conversation.
func (c Chat) Dialogue(seed int) *Dialogue { return &Dialogue{chat: c, seed: seed} }

// Play converses until the episode is over. The messages are stored with their
// token counts, which the server passes over when they are sent back.
func (d *Dialogue) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	d.reader = parse.NewReader(caller.Tools())
	request, err := d.request(task, caller.Tools())
	if err != nil {
		return err
	}
	prompt := len(request.Messages)
	for range d.chat.MaxTurns {
		message, failure := d.ask(ctx, request)
		if failure != nil {
			d.Failure = failure
			return nil
		}
		message = counted(message, d.Turns[len(d.Turns)-1].OutputTokens)
		d.keep(message)
		if over, err := d.act(ctx, caller, message); over || err != nil {
			return err
		}
		request.Messages = append(request.Messages[:prompt:prompt], d.Messages...)
	}
	return nil
}

func (d *Dialogue) request(task tools.Task, set tools.Set) (chatRequest, error) {
	converted, err := ollamaTools(set)
	if err != nil {
		return chatRequest{}, err
	}
	request := chatRequest{Model: d.chat.Model, Tools: converted, Format: d.chat.Format,
		Options: map[string]any{"num_ctx": d.chat.NumCtx, "seed": d.seed}}
	if d.chat.NumPredict > 0 {
		request.Options["num_predict"] = d.chat.NumPredict
	}
	if d.chat.Temperature != nil {
		request.Options["temperature"] = *d.chat.Temperature
	}
	for _, message := range task.Prompt {
		text, err := json.Marshal(message)
		if err != nil {
			return chatRequest{}, fmt.Errorf("encoding a prompt: %w", err)
		}
		request.Messages = append(request.Messages, text)
	}
	return request, nil
}
