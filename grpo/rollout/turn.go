package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// ask makes one request, keeps the turn, and returns the assistant's message
// as it came. A failure means that the answer can't be held against the model.
func (d *Dialogue) ask(ctx context.Context, request chatRequest) (json.RawMessage, *grpo.Failure) {
	begin := time.Now()
	r, err := d.chat.chat(ctx, request)
	turn := Turn{Status: r.Status, Body: string(r.Body), PromptTokens: r.PromptEvalCount,
		OutputTokens: r.EvalCount, DoneReason: r.DoneReason, Duration: time.Since(begin)}
	cut := d.cut(turn)
	d.Turns, d.FinishReason = append(d.Turns, turn), r.DoneReason
	switch {
	case err != nil:
		return nil, &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: err.Error()}
	case contextError(r.Error):
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: fmt.Sprintf("the prompt does not fit num_ctx %d: %s", d.chat.NumCtx, r.Error)}
	case r.Error != "":
		return errorMessage(r), nil // the reader knows a quoted call from a failure
	case cut != "":
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: cut}
	}
	return r.Message, nil
}

// cut says how a turn shows that the model did not see the whole conversation.
// A server that has to cut its prompt says nothing: the prompt then has exactly
// num_ctx tokens, or fewer than that of the turn before, although messages were
// only added; and a context that fills up while generating is shifted.
func (d *Dialogue) cut(turn Turn) string {
	before := 0
	if len(d.Turns) > 0 {
		before = d.Turns[len(d.Turns)-1].PromptTokens
	}
	switch {
	case turn.PromptTokens >= d.chat.NumCtx:
		return fmt.Sprintf("the prompt was cut to num_ctx: prompt_eval_count %d of %d", turn.PromptTokens, d.chat.NumCtx)
	case turn.PromptTokens > 0 && turn.PromptTokens < before:
		return fmt.Sprintf("the conversation was cut to fit num_ctx %d: prompt_eval_count fell from %d to %d", d.chat.NumCtx, before, turn.PromptTokens)
	case turn.PromptTokens+turn.OutputTokens > d.chat.NumCtx:
		return fmt.Sprintf("the context was shifted while generating: %d tokens of prompt and %d of output in num_ctx %d", turn.PromptTokens, turn.OutputTokens, d.chat.NumCtx)
	case turn.DoneReason == "length" && turn.PromptTokens+turn.OutputTokens == d.chat.NumCtx:
		return fmt.Sprintf("the context was full before the reply ended: num_ctx %d", d.chat.NumCtx)
	}
	return ""
}

// errorMessage is the server's error as a message: its body, or a body made of
// an error page.
func errorMessage(r reply) json.RawMessage {
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) == nil && body["error"] != nil {
		return r.Body
	}
	text, _ := json.Marshal(map[string]string{"error": fmt.Sprintf("HTTP %d: %s", r.Status, r.Error)}) // strings always encode
	return text
}

// contextError recognises the refusals of servers that were told not to
// truncate.
func contextError(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "context length") || strings.Contains(message, "context window") ||
		strings.Contains(message, "context size")
}

// act reads the message and makes its calls, in order. It reports whether the
// conversation is over.
func (d *Dialogue) act(ctx context.Context, caller tools.Caller, message json.RawMessage) (bool, error) {
	reading, err := d.reader.Read(parse.Input{Message: message, Family: parse.Structured, FinishReason: d.FinishReason})
	if err != nil {
		return true, fmt.Errorf("reading a reply: %w", err)
	}
	if reading.Failure != nil {
		d.Failure = reading.Failure
		return true, nil
	}
	if len(reading.Calls) == 0 {
		return true, say(ctx, caller, reading.Content)
	}
	for _, attempt := range reading.Attempts {
		if !attempt.Counts() {
			continue
		}
		call := attempt.Call()
		call.ID = attempt.ID
		step, err := caller.Step(ctx, call)
		if err != nil {
			return true, err
		}
		if err := d.answer(call, step.Result); err != nil || step.Done() {
			return true, err
		}
	}
	return false, nil
}

func say(ctx context.Context, caller tools.Caller, text string) error {
	speaker, ok := caller.(tools.Speaker)
	if !ok {
		return nil
	}
	_, err := speaker.Say(ctx, text)
	return err
}

// answer appends a tool's result to the conversation.
func (d *Dialogue) answer(call tools.Call, result tools.Result) error {
	text, err := json.Marshal(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Name    string `json:"tool_name"`
		ID      string `json:"tool_call_id,omitempty"`
	}{"tool", string(result.Content), call.Name, call.ID})
	if err != nil {
		return fmt.Errorf("encoding a tool's result: %w", err)
	}
	d.keep(text)
	return nil
}

// keep adds a message to the conversation.
func (d *Dialogue) keep(message json.RawMessage) {
	d.Messages = append(d.Messages, message)
}

// counted is an assistant's message with the number of tokens that the server
// generated for it: grading needs it to tell a lost reply from an empty one.
func counted(message json.RawMessage, tokens int) json.RawMessage {
	open := bytes.IndexByte(message, '{')
	if open < 0 {
		return message
	}
	rest := bytes.TrimSpace(message[open+1:])
	comma := ","
	if len(rest) > 0 && rest[0] == '}' {
		comma = ""
	}
	return json.RawMessage(fmt.Sprintf(`{"eval_count":%d%s%s`, tokens, comma, rest))
}
