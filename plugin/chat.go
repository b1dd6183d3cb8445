package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/modelserver"
	"toolgym/internal/ollama"
)

// chatMessages converts a conversation. A message with several tool results
// becomes one message per result, in the same order.
func chatMessages(conversation []llms.MessageContent) ([]ollama.Message, error) {
	var messages []ollama.Message
	names := map[string]string{} // of the tools, by the ids of their calls
	for i, m := range conversation {
		role, err := roleOf(m.Role)
		if err != nil {
			return nil, err
		}
		message := ollama.Message{Role: role}
		var texts []string
		var results []ollama.Message
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
				results = append(results, ollama.Message{Role: "tool", Content: p.Content, ToolName: p.Name, ToolCallID: p.ToolCallID})
			case llms.ImageURLContent, llms.BinaryContent:
				return nil, unsupported("message %d has a part of type %T; expected text, calls or results", i, part)
			default:
				return nil, refused("message %d has a part of the unknown type %T", i, part)
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

func chatCallOf(call llms.ToolCall, index int) (ollama.ToolCall, error) {
	if call.FunctionCall == nil {
		return ollama.ToolCall{}, refused("the call %q has no function", call.ID)
	}
	text := string(arguments(call.FunctionCall.Arguments, ""))
	if !isObject(text) {
		return ollama.ToolCall{}, refused("invalid arguments of the call %q; expected a JSON object", call.FunctionCall.Name)
	}
	return ollama.ToolCall{ID: call.ID, Function: ollama.FunctionCall{Index: index, Name: call.FunctionCall.Name, Arguments: json.RawMessage(text)}}, nil
}

// ollamaTools converts tools. Constraints that Ollama has no field for
// (minimum, pattern, additionalProperties, …) are left out: the tools validate
// their arguments. If more than constraints would be lost, the error names the
// place in the schema.
func ollamaTools(declared []llms.Tool) (ollama.ToolList, error) {
	functions := make([]ollama.Function, len(declared))
	for i, t := range declared {
		if t.Function == nil {
			return nil, refused("a tool of type %q has no function", t.Type)
		}
		parameters, err := json.Marshal(t.Function.Parameters)
		if err != nil {
			return nil, refused("encoding the schema of tool %q: %s", t.Function.Name, err)
		}
		functions[i] = ollama.Function{Name: t.Function.Name, Description: t.Function.Description, Parameters: parameters}
	}
	converted, losses, err := ollama.Tools(functions)
	if err != nil {
		return nil, refused("Ollama cannot carry %s", err)
	}
	for _, loss := range losses {
		if loss.Shape {
			return nil, refused("Ollama cannot carry the schema of tool %q: %s", loss.Function, loss)
		}
	}
	return converted, nil
}

// chat sends the request and reads the whole reply. Ollama's own client
// allocates 8 MB per reply and accepts an incomplete one.
func (m *Model) chat(ctx context.Context, request ollama.ChatRequest, hear listener) (chatReply, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return chatReply{}, refused("encoding the request: %v", err)
	}
	address, err := url.JoinPath(m.config.URL, "api/chat")
	if err != nil {
		return chatReply{}, refused("%v", err)
	}
	response, err := modelserver.Do(ctx, m.config.HTTP, http.MethodPost, address, body, "")
	if err != nil {
		return chatReply{}, connectionError(ctx, "requesting a completion", err)
	}
	defer func() { _ = response.Body.Close() }()
	bounded := modelserver.Limit(response.Body, m.config.MaxReply)
	if response.StatusCode >= http.StatusBadRequest {
		text, err := io.ReadAll(io.LimitReader(bounded, 1<<20))
		if err != nil {
			return chatReply{}, connectionError(ctx, "reading the error response", err)
		}
		return chatReply{}, statusError(response.StatusCode, text)
	}
	return read(ctx, bounded, hear)
}

// chatReply is a reply with its message decoded.
type chatReply struct {
	ollama.Reply
	Message ollama.Message
}

func (r *chatReply) decode(lines *json.Decoder) error {
	if err := lines.Decode(&r.Reply); err != nil || len(r.Reply.Message) == 0 {
		return err
	}
	return json.Unmarshal(r.Reply.Message, &r.Message)
}

// read joins the lines of a reply up to the line that is marked as done.
func read(ctx context.Context, lines io.Reader, hear listener) (chatReply, error) {
	var whole chatReply
	var content, thinking strings.Builder
	decoder := json.NewDecoder(lines)
	for {
		var line chatReply
		if err := line.decode(decoder); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			doing := "reading an incomplete reply"
			if errors.Is(err, modelserver.ErrTooLong) {
				doing = "reading the reply"
			}
			return whole, connectionError(ctx, doing, err)
		}
		if line.Error != "" {
			return whole, statusError(http.StatusInternalServerError, []byte(line.Error))
		}
		content.WriteString(line.Message.Content)
		thinking.WriteString(line.Message.Thinking)
		line.Message.ToolCalls = append(whole.Message.ToolCalls, line.Message.ToolCalls...)
		line.LogProbs = append(whole.LogProbs, line.LogProbs...)
		whole = line
		if err := hear.piece(ctx, line.Message); err != nil {
			return whole, err
		}
		if line.Done {
			whole.Message.Content, whole.Message.Thinking = content.String(), thinking.String()
			return whole, nil
		}
	}
}

// listener passes the pieces of a reply to the streaming functions.
type listener llms.CallOptions

func (l listener) piece(ctx context.Context, m ollama.Message) error {
	if l.StreamingReasoningFunc != nil && m.Thinking+m.Content != "" {
		if err := l.StreamingReasoningFunc(ctx, []byte(m.Thinking), []byte(m.Content)); err != nil {
			return err
		}
	}
	if l.StreamingFunc != nil && m.Content != "" {
		return l.StreamingFunc(ctx, []byte(m.Content))
	}
	return nil
}

// response converts a reply. A call without an id gets the number that it has
// in its conversation.
func response(reply chatReply, before int) *llms.ContentResponse {
	choice := &llms.ContentChoice{
		Content: reply.Message.Content, ReasoningContent: reply.Message.Thinking, StopReason: reply.DoneReason,
		GenerationInfo: map[string]any{
			"Model": reply.Model, "PromptTokens": int(reply.PromptEvalCount), "CompletionTokens": int(reply.EvalCount),
			"TotalTokens": int(reply.PromptEvalCount + reply.EvalCount), "ThinkingContent": reply.Message.Thinking,
			"LoadDuration": reply.LoadDuration, "TotalDuration": reply.TotalDuration,
		},
	}
	if len(reply.LogProbs) > 0 {
		choice.GenerationInfo["Logprobs"] = reply.LogProbs
	}
	for i, call := range reply.Message.ToolCalls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", before+i+1)
		}
		if text := string(call.Function.Arguments); text == "" || text == "null" {
			call.Function.Arguments = json.RawMessage("{}")
		}
		function := &llms.FunctionCall{Name: call.Function.Name, Arguments: string(call.Function.Arguments)}
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: call.ID, Type: "function", FunctionCall: function})
	}
	if len(choice.ToolCalls) > 0 {
		choice.FuncCall = choice.ToolCalls[0].FunctionCall
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}
}
