package grpo

import (
	"encoding/json"
	"fmt"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// FromTrajectory writes an episode that was played without a language model as
// the chat that it would have been: one assistant message a step, with one
// structured call or with what was said, and the tool's result after each call.
// An episode without steps is one empty message.
func FromTrajectory(t tools.Trajectory) (Completion, error) {
	c := Completion{Family: parse.Structured, Messages: []json.RawMessage{}, Played: &t}
	steps := t.Steps
	if len(steps) == 0 {
		steps = []tools.Step{{}}
	}
	for _, step := range steps {
		for _, message := range chat(step) {
			text, err := json.Marshal(message)
			if err != nil {
				return Completion{}, fmt.Errorf("writing %s as a chat: %w", t.Task.ID, err)
			}
			c.Messages = append(c.Messages, text)
		}
	}
	return c, nil
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Function tools.Call `json:"function"`
}

func chat(step tools.Step) []chatMessage {
	if step.Call.Name == "" {
		return []chatMessage{{Role: "assistant", Content: step.Message}}
	}
	call := step.Call
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	return []chatMessage{
		{Role: "assistant", ToolCalls: []chatCall{{call}}},
		{Role: "tool", Content: string(step.Result.Content)},
	}
}
