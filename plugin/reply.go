package plugin

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

	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/modelserver"
)

// chat sends the request and reads the whole answer. Ollama's own client takes
// 8 MB for each answer, and takes an answer that breaks off for a whole one.
func (m *Model) chat(ctx context.Context, request chatRequest, hear listener) (chatReply, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return chatReply{}, refused("encoding the request: %v", err)
	}
	address, err := url.JoinPath(m.config.URL, "api/chat")
	if err != nil {
		return chatReply{}, refused("%v", err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return chatReply{}, refused("%v", err)
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := m.config.HTTP.Do(post)
	if err != nil {
		return chatReply{}, broken(ctx, "asking Ollama", modelserver.Cause(err))
	}
	defer response.Body.Close()
	if err := modelserver.Redirected(response); err != nil {
		return chatReply{}, broken(ctx, "asking Ollama", err)
	}
	bounded := modelserver.Limit(response.Body, m.config.MaxReply)
	if response.StatusCode >= http.StatusBadRequest {
		text, err := io.ReadAll(io.LimitReader(bounded, 1<<20))
		if err != nil {
			return chatReply{}, broken(ctx, "reading Ollama's refusal", err)
		}
		return chatReply{}, answered(response.StatusCode, text)
	}
	return read(ctx, bounded, hear)
}

// read joins the lines of an answer until the one that says it is done.
func read(ctx context.Context, lines io.Reader, hear listener) (chatReply, error) {
	var whole chatReply
	var content, thinking strings.Builder
	decoder := json.NewDecoder(lines)
	for {
		var line chatReply
		if err := decoder.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			doing := "reading Ollama's answer, which breaks off"
			if errors.Is(err, modelserver.ErrTooLong) {
				doing = "reading Ollama's answer"
			}
			return whole, broken(ctx, doing, err)
		}
		if line.Error != "" {
			return whole, answered(http.StatusInternalServerError, []byte(line.Error))
		}
		content.WriteString(line.Message.Content)
		thinking.WriteString(line.Message.Thinking)
		line.Message.ToolCalls = append(whole.Message.ToolCalls, line.Message.ToolCalls...)
		line.Logprobs = append(whole.Logprobs, line.Logprobs...)
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

// listener hands the pieces of an answer to the caller's streaming functions.
type listener llms.CallOptions

func (l listener) piece(ctx context.Context, m chatMessage) error {
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

// response writes an answer in langchaingo's form. A call to which the server
// gave no id gets the number that it has in its conversation.
func response(reply chatReply, before int) *llms.ContentResponse {
	choice := &llms.ContentChoice{
		Content: reply.Message.Content, ReasoningContent: reply.Message.Thinking, StopReason: reply.DoneReason,
		GenerationInfo: map[string]any{
			"Model": reply.Model, "PromptTokens": reply.PromptEvalCount, "CompletionTokens": reply.EvalCount,
			"TotalTokens": reply.PromptEvalCount + reply.EvalCount, "ThinkingContent": reply.Message.Thinking,
			"LoadDuration": reply.LoadDuration, "TotalDuration": reply.TotalDuration,
		},
	}
	if len(reply.Logprobs) > 0 {
		choice.GenerationInfo["Logprobs"] = reply.Logprobs
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
