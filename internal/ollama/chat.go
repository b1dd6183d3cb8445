package ollama

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ollama/ollama/api"
)

// ChatRequest is the body of POST /api/chat. It is [api.ChatRequest], but its
// messages are JSON as it was received: decoding and encoding them again would
// round numbers and lose fields.
type ChatRequest struct {
	Model       string            `json:"model"`
	Messages    []json.RawMessage `json:"messages"`
	Stream      bool              `json:"stream"`
	Format      json.RawMessage   `json:"format,omitempty"` // "json" or a JSON Schema
	KeepAlive   *api.Duration     `json:"keep_alive,omitempty"`
	Tools       ToolList          `json:"tools,omitempty"`
	Options     map[string]any    `json:"options"`
	Think       any               `json:"think,omitempty"` // nil, a bool, or "low", "medium", "high"
	LogProbs    bool              `json:"logprobs,omitempty"`
	TopLogProbs int               `json:"top_logprobs,omitempty"`
	Truncate    *bool             `json:"truncate,omitempty"` // false: a prompt that does not fit is an error, on servers that know the field
	Shift       *bool             `json:"shift,omitempty"`
}

// ToolList is the tools of a request, as [Tools] converts them.
type ToolList = api.Tools

// KeepAlive is the time for which the server keeps a model loaded; nil, for 0,
// means its default.
func KeepAlive(d time.Duration) *api.Duration {
	if d == 0 {
		return nil
	}
	return &api.Duration{Duration: d}
}

// GenerateRequest is the body of POST /api/generate with a prompt that is
// complete (raw).
type GenerateRequest struct {
	Model    string          `json:"model"`
	Prompt   string          `json:"prompt"`
	Raw      bool            `json:"raw"`
	Format   json.RawMessage `json:"format,omitempty"`
	LogProbs bool            `json:"logprobs,omitempty"`
	Options  map[string]any  `json:"options"`
	Stream   bool            `json:"stream"`
	Truncate *bool           `json:"truncate,omitempty"`
	Shift    *bool           `json:"shift,omitempty"`
}

// Message is a message of a conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`    // of a tool's result
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's result
}

// ToolCall is one call in a message of the assistant.
type ToolCall struct {
	ID       string       `json:"id,omitempty"`
	Function FunctionCall `json:"function"`
}

// FunctionCall names the tool and has its arguments, a JSON object.
type FunctionCall struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Reply is an answer of /api/chat or /api/generate, or one line of a stream of
// them.
type Reply struct {
	Model           string          `json:"model"`
	Message         json.RawMessage `json:"message"`  // of /api/chat
	Response        string          `json:"response"` // of /api/generate
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	Error           string          `json:"error"`
	PromptEvalCount Count           `json:"prompt_eval_count"` // tokens of the prompt
	EvalCount       Count           `json:"eval_count"`        // tokens generated
	LogProbs        []api.Logprob   `json:"logprobs"`
	LoadDuration    time.Duration   `json:"load_duration"`
	TotalDuration   time.Duration   `json:"total_duration"`
}

// Count is a number of tokens, from 0 to 2^31 - 1.
type Count int

// UnmarshalJSON returns an error for any other number.
func (c *Count) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("got %.40s tokens; expected a whole number between 0 and %d", text, math.MaxInt32)
	}
	*c = Count(n)
	return nil
}
