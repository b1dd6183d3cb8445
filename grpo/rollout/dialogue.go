package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/internal/modelserver"
	"toolgym/tools"
)

// A route is a way to ask a model for its next message. It is made for one task.
type route interface {
	// ask makes one request. The messages are the conversation after the
	// prompt. An error means that no whole answer came; an answer that is an
	// error of the server's is a reply with Error set.
	ask(ctx context.Context, messages []json.RawMessage) (reply, error)
	// answer is a tool's result as a message of the conversation.
	answer(call tools.Call, result tools.Result) any
}

// dialogue is the agent that plays by asking.
type dialogue struct {
	Transcript
	config Config
	open   func(task tools.Task, set tools.Set) (route, error)
	route  route
	reader *parse.Reader
}

// run plays the task: the model is asked, its calls are made, their results
// are sent back, until the episode is over, the model calls nothing, or MaxTurns
// is reached. An error means that the rollout itself is at fault; what the
// server or the model did wrong stands in the transcript.
func (d *dialogue) run(ctx context.Context, env tools.Env, task tools.Task) (Transcript, error) {
	trajectory, err := tools.Rollout(ctx, env, task, d)
	d.Trajectory = trajectory
	if ctx.Err() != nil {
		return d.Transcript, fmt.Errorf("rolling out %s: %w", task.ID, ctx.Err())
	}
	return d.Transcript, err
}

// Play converses until the episode is over. The messages are stored with their
// token counts, which a server passes over when they are sent back.
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

// ask makes one request, keeps the turn, and returns the assistant's message
// as it came. A failure means that the answer can't be held against the model.
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
		return nil, &grpo.Failure{Kind: grpo.FailureServing, Reason: err.Error()} // whether the model or its server made it so long cannot be told
	case errors.Is(err, errTemplate):
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: err.Error()}
	case errors.Is(err, errReply):
		return unreadable(r.Body, err)
	case err != nil:
		return nil, &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: err.Error()}
	case contextError(r.Error):
		return nil, &grpo.Failure{Kind: grpo.FailureHarness, Reason: fmt.Sprintf("the prompt does not fit num_ctx %d: %s", d.config.NumCtx, r.Error)}
	case r.Error != "":
		return errorMessage(r), nil // the reader knows a quoted call from a failure
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

// assistants is a server's message as the assistant's, which it is where it
// names no role.
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

// errorMessage is the server's error as a message: its body, or a body made of
// an error page.
func errorMessage(r reply) json.RawMessage {
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) == nil && body["error"] != nil && strict(r.Body) == nil {
		return r.Body
	}
	text, _ := json.Marshal(map[string]string{"error": fmt.Sprintf("HTTP %d: %s", r.Status, r.Error)}) // strings always encode
	return text
}

// act reads the message and makes its calls, in order. It reports whether the
// conversation is over.
func (d *dialogue) act(ctx context.Context, caller tools.Caller, message json.RawMessage) (bool, error) {
	var reading parse.Reading
	err := d.reader.ReadInto(ctx, &reading, parse.Input{Message: message, Family: d.Family, FinishReason: d.FinishReason})
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if err != nil { // a field has another form than the protocol's
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

// counted is an assistant's message with the number of tokens that the server
// generated for it: grading needs it to tell a lost reply from an empty one. A
// count of the server's in the message itself is replaced.
func counted(message json.RawMessage, tokens int) json.RawMessage {
	var own struct {
		Count json.RawMessage `json:"eval_count"`
	}
	if json.Unmarshal(message, &own) == nil && own.Count != nil {
		message = without(message, "eval_count")
	}
	return with(message, fmt.Sprintf(`"eval_count":%d`, tokens))
}

// with is a message with one more field, the first.
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

// without is a message without one of its fields.
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
