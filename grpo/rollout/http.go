package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
)

// mostQuoted is how much is kept of a reply that is too long, in bytes.
const mostQuoted = 4 << 10

// errCut says that the answer ended before it was done.
var errCut = errors.New("the connection ended before the reply was done")

// reply is what came back of one request.
type reply struct {
	Prompt       string // where it was rendered here
	Status       int
	Body         []byte          // as it came
	Message      json.RawMessage // the assistant's message
	Error        string          // the server's own words, when it answered with an error
	PromptTokens int
	OutputTokens int
	DoneReason   string
	LogProbs     []float64
}

// do sends one request, with a key where there is one, and reads the whole
// answer.
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

// serverError finds the message of an answer that is an error, in Ollama's form
// or in OpenAI's.
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

// ValidateURL refuses a text that is not the address of a server.
func ValidateURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return refusal.New("url", "a URL such as http://127.0.0.1:11434", "%q is no address of a server", modelserver.Display(address))
	}
	return nil
}
