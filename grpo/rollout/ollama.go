package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"toolgym/tools"
)

// largestReply bounds what is read of one answer of a server.
const largestReply = 64 << 20

// chatRequest is api.ChatRequest with the messages as they came: decoding and
// encoding them again would round numbers and lose fields.
type chatRequest struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    api.Tools         `json:"tools,omitempty"`
	Format   json.RawMessage   `json:"format,omitempty"`
	Options  map[string]any    `json:"options"`
	Stream   bool              `json:"stream"`   // never, when grading
	Truncate bool              `json:"truncate"` // servers that know it then refuse what does not fit
	Shift    bool              `json:"shift"`
}

// reply is what came back of one request.
type reply struct {
	Status  int
	Body    []byte          // as it came
	Message json.RawMessage // the assistant message within Body
	Error   string          // the server's own words, when it answered with an error
	api.ChatResponse
}

// errCut says that the answer ended before it was done.
var errCut = errors.New("the connection ended before the reply was done")

// chat makes one request. An error means that no whole answer came; an answer
// that is an error of the server's is a reply with Error set.
func (c Chat) chat(ctx context.Context, request chatRequest) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	body, err := json.Marshal(request)
	if err != nil {
		return reply{}, fmt.Errorf("encoding a chat request: %w", err)
	}
	r, err := c.do(ctx, http.MethodPost, "/api/chat", body)
	if err != nil || r.Error != "" {
		return r, err
	}
	return r, r.decode()
}

// do sends one request and reads the whole answer.
func (c Chat) do(ctx context.Context, method, path string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("addressing %s: %w", c.URL, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client().Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("asking %s: %w", c.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{Status: resp.StatusCode}
	if r.Body, err = io.ReadAll(io.LimitReader(resp.Body, largestReply+1)); err != nil {
		return r, fmt.Errorf("%w: %w", errCut, err)
	}
	if len(r.Body) > largestReply {
		return r, fmt.Errorf("reading from %s: a reply over %d bytes", c.URL, largestReply)
	}
	r.Error = serverError(r.Status, r.Body)
	return r, nil
}

// serverError finds the message of an answer that is an error.
func serverError(status int, body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && e.Error != "" {
		return e.Error
	}
	if status != http.StatusOK {
		return http.StatusText(status)
	}
	return ""
}

// decode reads the answer to a chat request; done is required, since a
// connection cut between two writes looks like a shorter answer.
func (r *reply) decode() error {
	var whole struct {
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(r.Body, &whole); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if err := json.Unmarshal(r.Body, &r.ChatResponse); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	r.Message = whole.Message
	if !r.Done || len(r.Message) == 0 {
		return errCut
	}
	return nil
}

func (c Chat) client() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return http.DefaultClient
}

// ollamaTools converts a set to the client's type. What that type can not
// carry (bounds, defaults, closedness) does not reach the model; the calls are
// validated against the whole schema all the same.
func ollamaTools(set tools.Set) (api.Tools, error) {
	text, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding tools: %w", err)
	}
	var out api.Tools
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("converting tools for Ollama: %w", err)
	}
	return out, nil
}

// Check asks the server whether it has the model, so that a run can be refused
// before its first trial. The error says what to do.
func (c Chat) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body, err := json.Marshal(api.ShowRequest{Model: c.Model})
	if err != nil {
		return fmt.Errorf("encoding a show request: %w", err)
	}
	r, err := c.do(ctx, http.MethodPost, "/api/show", body)
	if err != nil {
		return &tools.Error{Code: tools.Unavailable, Message: fmt.Sprintf("no Ollama server answers at %s (%v)", c.URL, err), Want: "a running server (ollama serve) or another --ollama URL"}
	}
	if r.Status == http.StatusNotFound {
		return &tools.Error{Code: tools.Unavailable, Message: fmt.Sprintf("the server at %s does not have the model %q", c.URL, c.Model), Want: "ollama pull or ollama create first"}
	}
	if r.Error != "" {
		return &tools.Error{Code: tools.Unavailable, Message: fmt.Sprintf("the server at %s can not show the model %q: %s", c.URL, c.Model, r.Error)}
	}
	return nil
}
