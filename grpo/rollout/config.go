package rollout

import (
	"encoding/json"
	"net/http"
	"time"

	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
)

// Config is one model on one server. Options that are nil are not sent, so that
// the model's own defaults hold.
type Config struct {
	URL         string          // base address, such as http://127.0.0.1:11434
	Model       string          // name, with its tag where it has one
	NumCtx      int             // context in tokens; always sent to Ollama
	NumPredict  int             // most tokens of one turn; 0 leaves it to the server
	Temperature *float64        // nil: the model's own
	Format      json.RawMessage // a JSON Schema that constrains the output; nil: none
	Think       *bool           // nil: the model's own; servers without it ignore it
	LogProbs    bool            // ask for log-probabilities; servers without them ignore it
	MaxTurns    int             // assistant turns a task
	Timeout     time.Duration   // of one turn
	MaxReply    int64           // most bytes of one reply; 0 is DefaultMaxReply
	HTTP        *http.Client    // its redirects are not followed; nil: a client of its own
}

// The defaults of [Config.WithDefaults].
const (
	DefaultNumCtx   = 4096
	DefaultMaxTurns = 20
	DefaultTimeout  = 5 * time.Minute
	DefaultMaxReply = modelserver.MaxReply
)

// WithDefaults fills in the fields that are zero and have a default.
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

// Validate reports a configuration that can not be used.
func (c Config) Validate() error {
	switch {
	case c.Model == "":
		return refusal.New("model", "a name that the server lists", "no model is named")
	case c.NumCtx < 1:
		return refusal.New("num_ctx", "at least 1", "%d tokens of context", c.NumCtx)
	case c.NumPredict < 0:
		return refusal.New("num_predict", "at least 1, or 0 for the server's own limit", "%d tokens a turn", c.NumPredict)
	case c.MaxTurns < 1:
		return refusal.New("max_turns", "at least 1", "%d turns", c.MaxTurns)
	case c.Timeout <= 0:
		return refusal.New("timeout", "a time above zero", "%v", c.Timeout)
	case c.MaxReply < 0:
		return refusal.New("max_reply_bytes", "at least 1, or 0 for the default", "%d bytes", c.MaxReply)
	case c.Temperature != nil && *c.Temperature < 0:
		return refusal.New("temperature", "0 or more", "%v", *c.Temperature)
	}
	return ValidateURL(c.URL)
}

// options are what is sent to Ollama with each request.
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
