package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/internal/modelserver"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// A route is one way to ask a model for its next message. It is made per task.
type route interface {
	// ask makes one request. The messages are the conversation after the
	// prompt. An error means that there is no complete reply; an error response
	// of the server is a reply with Error set.
	ask(ctx context.Context, messages []json.RawMessage) (reply, error)
	// answer returns the result of a tool as a message of the conversation.
	answer(call tools.Call, result tools.Result) any
}

// dialogue is the agent that plays a task by asking a model.
type dialogue struct {
	Transcript
	config Config
	open   func(task tools.Task, set tools.Set) (route, error)
	route  route
	reader *parse.Reader
}

// run plays the task: the model is asked, its calls are made, their results are
// sent back, until the episode ends, the model makes no call, or MaxTurns is
// reached. An error means that the rollout itself failed; failures of the
// server or the model are in the transcript.
func (d *dialogue) run(ctx context.Context, env tools.Env, task tools.Task) (Transcript, error) {
	trajectory, err := tools.Rollout(ctx, env, task, d)
	d.Trajectory = trajectory
	if ctx.Err() != nil {
		return d.Transcript, fmt.Errorf("rolling out %s: %w", task.ID, ctx.Err())
	}
	return d.Transcript, err
}

// Play converses until the episode ends. The messages are kept with their token
// counts, which a server ignores when they are sent back.
func (d *dialogue) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) (err error) {
	d.reader = parse.NewReader(caller.Tools())
	if d.route, err = d.open(task, caller.Tools()); err != nil {
		return err
	}
	for range d.config.MaxTurns {
		message, failure := d.ask(ctx)
		if failure != nil {
			d.Failure = failure
			return nil
		}
		message = counted(message, d.Turns[len(d.Turns)-1].OutputTokens)
		d.Messages = append(d.Messages, message)
		if over, err := d.act(ctx, caller, message); over || err != nil {
			return err
		}
	}
	return nil
}

// ask makes one request, keeps the turn, and returns the message of the
// assistant unchanged. A failure means that the reply says nothing about the
// model.
func (d *dialogue) ask(ctx context.Context) (json.RawMessage, *grpo.Failure) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Timeout)
	defer cancel()
	begin := time.Now()
	r, err := d.route.ask(ctx, d.Messages)
	turn := Turn{Prompt: r.Prompt, Status: r.Status, Body: string(r.Body), PromptTokens: r.PromptTokens,
		OutputTokens: r.OutputTokens, DoneReason: r.DoneReason, LogProbs: r.LogProbs, Duration: time.Since(begin)}
	cut := d.cut(turn)
	d.Turns, d.FinishReason = append(d.Turns, turn), r.DoneReason
	switch {
	case errors.Is(err, modelserver.ErrTooLong) && r.Status < http.StatusBadRequest:
		return nil, &grpo.Failure{Kind: grpo.FailureServing, Reason: err.Error()} // the model or its server may be responsible
	case errors.Is(err, errTemplate):
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: err.Error()}
	case errors.Is(err, errReply):
		return unreadable(r.Body, err)
	case err != nil:
		return nil, &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: err.Error()}
	case contextError(r.Error):
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: fmt.Sprintf("the prompt does not fit num_ctx %d: %s", d.config.NumCtx, r.Error)}
	case r.Error != "":
		return errorMessage(r), nil // the reader tells a quoted call from a failure
	case cut != "":
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: cut}
	}
	if !utf8.Valid(r.Body) {
		return unreadable(r.Body, strict(r.Body))
	}
	if err := strict(r.Message); err != nil {
		return unreadable(r.Message, err)
	}
	return assistants(r.Message)
}

// assistants returns a message with the role "assistant", which is also the
// role of a message without one.
func assistants(message json.RawMessage) (json.RawMessage, *grpo.Failure) {
	var said struct {
		Role json.RawMessage `json:"role"`
	}
	_ = json.Unmarshal(message, &said) // it is an object
	switch role := string(said.Role); role {
	case `"assistant"`:
		return message, nil
	case "", "null", `""`:
		return with(without(message, "role"), `"role":"assistant"`), nil
	default:
		return nil, &grpo.Failure{Kind: grpo.FailureServing, Reason: fmt.Sprintf("%v: its message has the role %.40s; expected \"assistant\"", errReply, role)}
	}
}

// errorMessage returns an error response as a message: its body, or a body made
// of an error page.
func errorMessage(r reply) json.RawMessage {
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) == nil && body["error"] != nil && strict(r.Body) == nil {
		return r.Body
	}
	text, _ := json.Marshal(map[string]string{"error": fmt.Sprintf("HTTP %d: %s", r.Status, r.Error)}) // strings always encode
	return text
}

// act reads the message and makes its calls, in order. It reports whether the
// conversation has ended.
func (d *dialogue) act(ctx context.Context, caller tools.Caller, message json.RawMessage) (bool, error) {
	var reading parse.Reading
	err := d.reader.ReadInto(ctx, &reading, parse.Input{Message: message, Family: d.Family, FinishReason: d.FinishReason})
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if err != nil { // a field of an invalid form
		d.Failure = &grpo.Failure{Kind: grpo.FailureServing, Reason: fmt.Sprintf("%v: %v", errReply, err)}
		d.Messages = d.Messages[:len(d.Messages)-1]
		return true, nil
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
		text, err := json.Marshal(d.route.answer(call, step.Result))
		if err != nil {
			return true, fmt.Errorf("encoding a tool's result: %w", err)
		}
		d.Messages = append(d.Messages, text)
		if step.Done() {
			return true, nil
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

// counted adds the number of generated tokens to a message: the grader needs it
// to tell a lost reply from an empty one. It replaces a count of the server.
func counted(message json.RawMessage, tokens int) json.RawMessage {
	var own struct {
		Count json.RawMessage `json:"eval_count"`
	}
	if json.Unmarshal(message, &own) == nil && own.Count != nil {
		message = without(message, "eval_count")
	}
	return with(message, fmt.Sprintf(`"eval_count":%d`, tokens))
}

// with adds a first field to a message.
func with(message json.RawMessage, field string) json.RawMessage {
	_, rest, ok := bytes.Cut(message, []byte("{"))
	if !ok {
		return message
	}
	rest = bytes.TrimSpace(rest)
	comma := ","
	if len(rest) > 0 && rest[0] == '}' {
		comma = ""
	}
	return json.RawMessage("{" + field + comma + string(rest))
}

// without removes a field of a message.
func without(message json.RawMessage, field string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return message
	}
	delete(fields, field)
	text, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return text
}

// A Turn is one reply of the server.
type Turn struct {
	Prompt       string        `json:"prompt,omitempty"` // the prompt of the raw route
	Status       int           `json:"status"`
	Body         string        `json:"body"` // unchanged
	PromptTokens int           `json:"prompt_tokens"`
	OutputTokens int           `json:"output_tokens"`
	DoneReason   string        `json:"done_reason,omitempty"`
	LogProbs     []float64     `json:"logprobs,omitempty"` // of the generated tokens, if the server returns them
	Duration     time.Duration `json:"duration_ns"`
}

// A Transcript is the conversation of a model and an environment about one
// task.
type Transcript struct {
	Family       parse.Family      `json:"family"`   // format of the assistant's messages
	Messages     []json.RawMessage `json:"messages"` // after the prompt: the assistant's, unchanged, and the results of tools
	Turns        []Turn            `json:"turns"`
	FinishReason string            `json:"finish_reason"` // of the last turn; "length" means truncated
	Trajectory   tools.Trajectory  `json:"trajectory"`
	Failure      *grpo.Failure     `json:"failure"` // not the model's: there is no grade
}

// Completion returns the transcript for the grader.
func (t Transcript) Completion() grpo.Completion {
	family := t.Family
	if family == "" {
		family = parse.Structured
	}
	return grpo.Completion{Messages: t.Messages, Family: family, FinishReason: t.FinishReason, Failure: t.Failure}
}

// cut returns how a turn shows that the model did not see the whole
// conversation. An Ollama server truncates a prompt without notice: the prompt
// then has exactly num_ctx tokens, or fewer than that of the turn before
// although messages were only added; and a context that fills up during
// generation is shifted.
func (d *dialogue) cut(turn Turn) string {
	before, size := 0, d.config.NumCtx
	if len(d.Turns) > 0 {
		before = d.Turns[len(d.Turns)-1].PromptTokens
	}
	switch {
	case turn.PromptTokens >= size:
		return fmt.Sprintf("the prompt was truncated to num_ctx: prompt_eval_count %d of %d", turn.PromptTokens, size)
	case turn.PromptTokens > 0 && turn.PromptTokens < before:
		return fmt.Sprintf("the conversation was truncated to num_ctx %d: prompt_eval_count fell from %d to %d", size, before, turn.PromptTokens)
	case turn.PromptTokens+turn.OutputTokens > size:
		return fmt.Sprintf("the context was shifted during generation: %d prompt tokens and %d output tokens in num_ctx %d", turn.PromptTokens, turn.OutputTokens, size)
	case turn.DoneReason == "length" && turn.PromptTokens+turn.OutputTokens == size:
		return fmt.Sprintf("the context was full before the reply ended: num_ctx %d", size)
	}
	return ""
}

// contextError recognizes the errors of servers that do not truncate.
func contextError(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{"context length", "context window", "context size", "maximum context", "exceeds the available context"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// mostUnreadable is the number of bytes that are quoted of arguments that cannot
// be read.
const mostUnreadable = 2 << 10

// errReply means that a reply is complete but of another form than the API's.
var errReply = errors.New("the reply cannot be read")

// strict returns an error unless the grader can read a message of a server.
func strict(text []byte) error {
	if !utf8.Valid(text) {
		return &strictjson.Error{Kind: strictjson.InvalidUTF8, Message: "invalid UTF-8"}
	}
	_, err := strictjson.Decode(text)
	if failure, ok := errors.AsType[*strictjson.Error](err); ok && failure.Kind == strictjson.LoneSurrogate {
		return nil // a model can generate one, and the grader repairs it
	}
	return err
}

// unreadable decides who is responsible for a reply that cannot be read. An
// error within the arguments of a call is the model's, which wrote them: the
// message becomes an error that quotes them, as servers return that parse calls
// themselves, and the grader finds an invalid attempt. Anything else is the
// server's: serving if there is a message, which may be the model's or not, and
// infrastructure if there is none.
func unreadable(text []byte, cause error) (json.RawMessage, *grpo.Failure) {
	if failure, ok := errors.AsType[*strictjson.Error](cause); ok && failure.Kind != strictjson.InvalidUTF8 {
		if quoted, ok := argumentsAt(text, failure.Offset); ok {
			return unparsable(quoted, failure.Message), nil
		}
	}
	if failure, ok := errors.AsType[*json.SyntaxError](cause); ok && strings.Contains(failure.Error(), "max depth") {
		if quoted, ok := argumentsAt(text, int(failure.Offset)); ok {
			return unparsable(quoted, failure.Error()), nil
		}
	}
	if errors.Is(cause, errReply) {
		return nil, &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: cause.Error()}
	}
	return nil, &grpo.Failure{Kind: grpo.FailureServing, Reason: fmt.Sprintf("%v: %v", errReply, cause)}
}

// unparsable is the error body of a server that could not parse a call.
func unparsable(quoted []byte, message string) json.RawMessage {
	if len(quoted) > mostUnreadable {
		quoted = quoted[:mostUnreadable]
	}
	said := fmt.Sprintf("error parsing tool call: raw='%s', err=%s", strings.ToValidUTF8(string(quoted), "\ufffd"), message)
	text, _ := json.Marshal(map[string]string{"error": said}) // strings always encode
	return text
}

// argumentsAt finds the arguments of a call at an offset. It follows the
// tokens, which may be nested to any depth and may repeat keys.
func argumentsAt(text []byte, offset int) (quoted []byte, ok bool) {
	type level struct {
		object bool
		key    string
		isKey  bool // the next token is a key
	}
	var (
		levels  []level
		begin   = -1 // of the arguments
		outside int  // levels around them
		decoder = json.NewDecoder(bytes.NewReader(text))
	)
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		end := int(decoder.InputOffset())
		if err != nil {
			return text[max(begin, 0):], begin >= 0
		}
		if closing, isDelim := token.(json.Delim); isDelim && (closing == '}' || closing == ']') {
			levels = levels[:len(levels)-1]
		}
		top := len(levels) - 1
		if top >= 0 && levels[top].object && levels[top].isKey {
			if key, isText := token.(string); isText {
				levels[top].key, levels[top].isKey = key, false
				called := func(l level) bool { return l.key == "tool_calls" || l.key == "function_call" }
				if begin < 0 && (key == "arguments" || key == "parameters") && slices.ContainsFunc(levels, called) {
					begin, outside = end, len(levels)
				}
				continue
			}
		}
		if begin >= 0 && end >= offset && offset >= begin {
			return bytes.TrimLeft(text[begin:], " \t\r\n:"), true
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{object: true, isKey: true})
			continue
		case json.Delim('['):
			levels = append(levels, level{})
			continue
		}
		if top >= 0 && levels[top].object {
			levels[top].isKey = true
		}
		if begin >= 0 && len(levels) <= outside {
			begin = -1 // the arguments have ended before the offset
		}
		if end > offset {
			return nil, false
		}
	}
}
