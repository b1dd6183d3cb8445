package plugin

import (
	"encoding/json"
	"strings"

	ollama "github.com/ollama/ollama/api"
	"github.com/tmc/langchaingo/llms"
)

// chatRequest is Ollama's own [ollama.ChatRequest], but for the arguments of
// calls: there they pass through float64, here they keep their digits.
type chatRequest struct {
	Model       string           `json:"model"`
	Messages    []chatMessage    `json:"messages"`
	Stream      bool             `json:"stream"`
	Format      json.RawMessage  `json:"format,omitempty"`
	KeepAlive   *ollama.Duration `json:"keep_alive,omitempty"`
	Tools       ollama.Tools     `json:"tools,omitempty"`
	Options     map[string]any   `json:"options"`
	Think       any              `json:"think,omitempty"` // nil, a bool, or "low", "medium", "high"
	Logprobs    bool             `json:"logprobs,omitempty"`
	TopLogprobs int              `json:"top_logprobs,omitempty"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// chatReply is one line of the answer.
type chatReply struct {
	Model      string           `json:"model"`
	Message    chatMessage      `json:"message"`
	Done       bool             `json:"done"`
	DoneReason string           `json:"done_reason"`
	Error      string           `json:"error"`
	Logprobs   []ollama.Logprob `json:"logprobs"`
	ollama.Metrics
}

// chatMessages writes a conversation in Ollama's form. A message of several
// tool results becomes one for each, in their order.
func chatMessages(conversation []llms.MessageContent) ([]chatMessage, error) {
	var messages []chatMessage
	names := map[string]string{} // of the tools, by the ids of their calls
	for i, m := range conversation {
		role, err := roleOf(m.Role)
		if err != nil {
			return nil, err
		}
		message := chatMessage{Role: role}
		var texts []string
		var results []chatMessage
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
				texts = append(texts, p.Text)
			case llms.ToolCall:
				call, err := chatCallOf(p, len(message.ToolCalls))
				if err != nil {
					return nil, err
				}
				names[p.ID] = call.Function.Name
				message.ToolCalls = append(message.ToolCalls, call)
			case llms.ToolCallResponse:
				if p.Name == "" {
					p.Name = names[p.ToolCallID]
				}
				results = append(results, chatMessage{Role: "tool", Content: p.Content, ToolName: p.Name, ToolCallID: p.ToolCallID})
			case llms.ImageURLContent, llms.BinaryContent:
				return nil, unsupported("message %d holds an image or a file (%T); this model is given text and tools only", i, part)
			default:
				return nil, refused("message %d holds a %T, which is unknown here", i, part)
			}
		}
		message.Content = strings.Join(texts, "\n")
		if len(results) == 0 || message.Content != "" || len(message.ToolCalls) > 0 {
			messages = append(messages, message)
		}
		messages = append(messages, results...)
	}
	return messages, nil
}

func roleOf(role llms.ChatMessageType) (string, error) {
	switch role {
	case llms.ChatMessageTypeSystem:
		return "system", nil
	case llms.ChatMessageTypeAI:
		return "assistant", nil
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return "user", nil
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return "tool", nil
	}
	return "", refused("a message has the unknown role %q", role)
}

func chatCallOf(call llms.ToolCall, index int) (chatCall, error) {
	if call.FunctionCall == nil {
		return chatCall{}, refused("the call %q names no function", call.ID)
	}
	text := string(arguments(call.FunctionCall.Arguments, ""))
	if !isObject(text) {
		return chatCall{}, refused("the arguments of the call %q are no JSON object, and Ollama can carry nothing else", call.FunctionCall.Name)
	}
	return chatCall{ID: call.ID, Function: chatFunction{Index: index, Name: call.FunctionCall.Name, Arguments: json.RawMessage(text)}}, nil
}
