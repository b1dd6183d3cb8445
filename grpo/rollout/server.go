package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
)

// Config is one model on one server. Options that are nil are not sent, so the
// defaults of the model apply.
type Config struct {
	URL         string          // base address, such as http://127.0.0.1:11434
	Model       string          // name, with its tag where it has one
	NumCtx      int             // context in tokens; always sent to Ollama
	NumPredict  int             // maximum tokens per turn; 0 means the default of the server
	Temperature *float64        // nil: the default of the model
	Format      json.RawMessage // a JSON Schema of the output; nil: none
	Think       *bool           // nil: the default of the model; servers without thinking ignore it
	LogProbs    bool            // request log-probabilities; servers without them ignore it
	MaxTurns    int             // assistant turns per task
	Timeout     time.Duration   // per turn
	MaxReply    int64           // maximum bytes of one reply; 0 means DefaultMaxReply
	HTTP        *http.Client    // redirects are not followed; nil: a default client
}

// The defaults of [Config.WithDefaults].
const (
	DefaultNumCtx   = 4096
	DefaultMaxTurns = 20
	DefaultTimeout  = 5 * time.Minute
	DefaultMaxReply = modelserver.MaxReply
)

// WithDefaults sets the fields that are zero and have a default.
func (c Config) WithDefaults() Config {
	if c.NumCtx == 0 {
		c.NumCtx = DefaultNumCtx
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = DefaultMaxTurns
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxReply == 0 {
		c.MaxReply = DefaultMaxReply
	}
	return c
}

// Validate returns an error for an invalid configuration.
func (c Config) Validate() error {
	switch {
	case c.Model == "":
		return refusal.New("model", "the name of a model on the server", "missing")
	case c.NumCtx < 1:
		return refusal.New("num_ctx", "at least 1", "got %d", c.NumCtx)
	case c.NumPredict < 0:
		return refusal.New("num_predict", "at least 1, or 0 for the default of the server", "got %d", c.NumPredict)
	case c.MaxTurns < 1:
		return refusal.New("max_turns", "at least 1", "got %d", c.MaxTurns)
	case c.Timeout <= 0:
		return refusal.New("timeout", "a positive duration", "got %v", c.Timeout)
	case c.MaxReply < 0:
		return refusal.New("max_reply_bytes", "at least 1, or 0 for the default", "got %d", c.MaxReply)
	case c.Temperature != nil && *c.Temperature < 0:
		return refusal.New("temperature", "at least 0", "got %v", *c.Temperature)
	}
	return ValidateURL(c.URL)
}

// options returns the options of a request to Ollama.
func (c Config) options(seed int) map[string]any {
	options := map[string]any{"num_ctx": c.NumCtx, "seed": seed}
	if c.NumPredict > 0 {
		options["num_predict"] = c.NumPredict
	}
	if c.Temperature != nil {
		options["temperature"] = *c.Temperature
	}
	return options
}

// mostQuoted is the number of bytes that are kept of a reply that is too long.
const mostQuoted = 4 << 10

// errCut means that the reply is incomplete.
var errCut = errors.New("the connection ended before the reply was done")

// reply is the response to one request.
type reply struct {
	Prompt       string // of the raw route
	Status       int
	Body         []byte          // unchanged
	Message      json.RawMessage // the assistant's message
	Error        string          // the message of an error response
	PromptTokens int
	OutputTokens int
	DoneReason   string
	LogProbs     []float64
}

// do sends one request, with a key if there is one, and reads the whole
// response.
func (c Config) do(ctx context.Context, method, path string, body []byte, key string) (reply, error) {
	resp, err := modelserver.Do(ctx, c.HTTP, method, strings.TrimRight(c.URL, "/")+path, body, key)
	if redirect, ok := errors.AsType[*modelserver.RedirectError](err); ok {
		return reply{Status: redirect.Status}, err
	}
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{Status: resp.StatusCode}
	r.Body, err = modelserver.Read(heldReader{ctx, resp.Body}, c.maxReply())
	switch {
	case errors.Is(err, modelserver.ErrTooLong):
		r.Body = bytes.Clone(r.Body[:min(len(r.Body), mostQuoted)])
		return r, fmt.Errorf("reading from %s: HTTP %d: %w", modelserver.Display(c.URL), r.Status, err)
	case err != nil:
		return r, fmt.Errorf("%w: %w", errCut, err)
	}
	r.Body = bytes.TrimPrefix(r.Body, []byte("\ufeff"))
	r.Error = serverError(r.Status, r.Body)
	return r, nil
}

func (c Config) maxReply() int64 {
	if c.MaxReply > 0 {
		return c.MaxReply
	}
	return modelserver.MaxReply
}

// post sends a value as JSON.
func (c Config) post(ctx context.Context, path string, v any, key string) (reply, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return reply{}, fmt.Errorf("encoding a request: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, body, key)
}

// serverError returns the message of an error response, in the form of Ollama
// or of OpenAI.
func serverError(status int, body []byte) string {
	var plain struct {
		Error string `json:"error"`
	}
	var nested struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case json.Unmarshal(body, &plain) == nil && plain.Error != "":
		return plain.Error
	case json.Unmarshal(body, &nested) == nil && nested.Error.Message != "":
		return nested.Error.Message
	case status != http.StatusOK:
		return known(http.StatusText(status), "an unknown status")
	}
	return ""
}

func known(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// ValidateURL returns an error unless the text is the address of a server.
func ValidateURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return refusal.New("url", "a URL such as http://127.0.0.1:11434", "invalid address %q", modelserver.Display(address))
	}
	return nil
}

// DefaultBudget is the [Budget] for the replies of concurrent trials, in bytes.
// Reading, grading and keeping a reply takes many times its size.
const DefaultBudget = 16 << 20

// heldStep is the unit in which a trial reserves bytes.
const heldStep = 16 << 10

// A Budget limits the bytes of replies and prompts that the concurrent trials
// of one evaluation hold: a trial waits until others have released theirs. If
// every trial that holds bytes waits for more, one of them continues, so that
// none waits forever; the excess is at most one budget. It is safe for
// concurrent use.
type Budget struct {
	limit int64

	mu      sync.Mutex
	changed *sync.Cond
	used    int64
	holders int // trials that hold bytes
	waiting int // of them, those that wait for more
}

// NewBudget makes a budget of a number of bytes.
func NewBudget(limit int64) *Budget {
	b := &Budget{limit: limit}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// Hold returns a context for one trial, whose replies count against the budget
// until release is called. A nil budget is unlimited.
func (b *Budget) Hold(ctx context.Context) (held context.Context, release func()) {
	if b == nil {
		return ctx, func() {}
	}
	h := &hold{budget: b}
	return context.WithValue(ctx, holdKey{}, h), h.release
}

type holdKey struct{}

// A hold is the share of one trial in a budget.
type hold struct {
	budget         *Budget
	used, reserved int64 // reserved is used, rounded up to steps
}

// take counts bytes, and waits while the budget is used up. A trial that needs
// more than the whole budget is [modelserver.ErrTooLong].
func (h *hold) take(ctx context.Context, n int64) error {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.used += n
	if h.used > b.limit {
		return fmt.Errorf("%w: over %d bytes in the trial's replies and prompts", modelserver.ErrTooLong, b.limit)
	}
	need := (h.used - h.reserved + heldStep - 1) / heldStep * heldStep
	if need <= 0 {
		return nil
	}
	if h.reserved > 0 {
		b.waiting++
		b.changed.Broadcast() // the others may wait for this one
		defer func() { b.waiting-- }()
	}
	wake := context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer wake()
	for b.used+need > b.limit && b.used > 0 && (h.reserved == 0 || b.waiting < b.holders) {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for the reply budget: %w", ctx.Err())
		}
		b.changed.Wait()
	}
	if h.reserved == 0 {
		b.holders++
	}
	h.reserved += need
	b.used += need
	return nil
}

func (h *hold) release() {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.reserved > 0 {
		b.holders--
	}
	b.used -= h.reserved
	h.used, h.reserved = 0, 0
	b.changed.Broadcast()
}

// take counts bytes against the budget of the context, if there is one.
func take(ctx context.Context, n int) error {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok {
		return nil
	}
	return h.take(ctx, int64(n))
}

// A heldReader counts the bytes that it reads against the budget of the
// context.
type heldReader struct {
	ctx  context.Context //nolint:containedctx // of the request whose reply is read
	body io.Reader
}

// Read implements io.Reader.
func (r heldReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if failed := take(r.ctx, n); failed != nil {
		return 0, failed
	}
	return n, err
}
