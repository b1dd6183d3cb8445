package eval

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Replay plays the reference solution of the item, the oracle's or the expected
// calls and answer, and grades it as a model would be. A reference that does
// not pass is an [*tools.Error]: the task cannot be solved. Where an
// environment has no oracle there is nothing to replay.
func (i Item) Replay(ctx context.Context, scorer *grpo.Scorer) error {
	transcript, ok, err := i.reference(ctx)
	if err != nil || !ok {
		return err
	}
	score, err := i.grade(ctx, scorer, transcript)
	if err != nil {
		return err
	}
	reason := ""
	switch {
	case score.Failure != nil:
		reason = score.Failure.Reason
	case !score.Success:
		reason = "its reference solution does not pass"
	}
	if reason == "" {
		return nil
	}
	return refusal.New(i.Task.ID, "a reference that passes", "the task cannot be solved: %s", reason)
}

func (i Item) reference(ctx context.Context) (transcript rollout.Transcript, ok bool, err error) {
	switch {
	case i.Expected != nil && i.open():
		return transcript, false, nil
	case i.Expected != nil:
		transcript, err = i.expectedMessages()
		return transcript, true, err
	case i.spec.Oracle == nil:
		return transcript, false, nil
	}
	oracle := Baseline{Name: "oracle", New: func(int) tools.Agent { return i.spec.Oracle }}
	transcript, err = oracle.Run(ctx, i.env(), i.Task, 0)
	return transcript, true, err
}

// open reports whether a matcher stands for a value that is not written down,
// so that the expected calls are no whole solution.
func (i Item) open() bool {
	for _, c := range i.Expected.Calls {
		tool, ok := i.Tools.Lookup(c.Name)
		if ok && len(c.Match)+len(i.Expected.Match) > 0 && len(tool.Validate(arguments(tools.Call{Arguments: c.Arguments}))) > 0 {
			return true
		}
	}
	return false
}

// expectedMessages is one message with all expected calls, or the answer.
func (i Item) expectedMessages() (rollout.Transcript, error) {
	said := map[string]any{"role": "assistant", "content": ""}
	if i.Expected.Answer != nil {
		said["content"] = fmt.Sprint(i.Expected.Answer.Value)
	}
	var calls []any
	for _, c := range i.Expected.Calls {
		call := tools.Call{Name: c.Name, Arguments: c.Arguments}
		calls = append(calls, map[string]any{"function": map[string]any{"name": call.Name, "arguments": arguments(call)}})
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	text, err := json.Marshal(said)
	if err != nil {
		return rollout.Transcript{}, fmt.Errorf("writing down the reference of %s: %w", i.Task.ID, err)
	}
	return rollout.Transcript{Messages: []json.RawMessage{text}, Turns: []rollout.Turn{{}}, FinishReason: "stop"}, nil
}

func arguments(call tools.Call) json.RawMessage {
	if len(call.Arguments) == 0 {
		return json.RawMessage("{}")
	}
	return call.Arguments
}
