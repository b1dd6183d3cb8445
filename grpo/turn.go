package grpo

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
)

// A turn is one assistant message, read, and the tool results that followed it
// in the transcript.
type turn struct {
	reading parse.Reading
	text    string // everything that the model wrote in it
	given   []given
}

// given is a tool result as a transcript has it.
type given struct {
	id      string // of the call that it answers, or ""
	content string
}

// next adds a turn to the completion. Its reading may hold memory that was used
// before.
func (g *grader) next(text string) *turn {
	if n := len(g.turns); n < cap(g.turns) {
		g.turns = g.turns[:n+1]
	} else {
		g.turns = append(g.turns, turn{})
	}
	t := &g.turns[len(g.turns)-1]
	t.text, t.given = text, t.given[:0]
	return t
}

// read reads a completion's turns. tokens is the number of tokens that the
// messages say were generated, −1 where they do not all say it. The context is
// looked at between messages; reading one takes time in proportion to its size.
func (g *grader) read(ctx context.Context, reader *parse.Reader, c *Completion) (tokens int, err error) {
	if c.Text != nil {
		in := parse.Input{Text: c.Text, Family: c.Family, FinishReason: c.FinishReason}
		return -1, reader.ReadInto(ctx, &g.next(*c.Text).reading, in)
	}
	last := -1
	messages := make([]message, len(c.Messages))
	for i, text := range c.Messages {
		if err := json.Unmarshal(text, &messages[i]); err != nil {
			return -1, refusal.New(fmt.Sprintf("/messages/%d", i), "a chat message", "%v", err)
		}
		if messages[i].model() {
			last = i
		}
	}
	if last < 0 {
		return -1, refusal.New("/messages", "at least one message of the assistant", "none of the %d messages is the assistant's", len(messages))
	}
	for i, m := range messages {
		if ctx.Err() != nil {
			return -1, fmt.Errorf("reading a completion: %w", ctx.Err())
		}
		switch {
		case m.Role == "tool" && len(g.turns) > 0:
			at := &g.turns[len(g.turns)-1]
			at.given = append(at.given, given{m.ToolCallID, contentText(m.Content)})
		case m.model():
			in := parse.Input{Message: c.Messages[i], Family: c.Family}
			if i == last {
				in.FinishReason = c.FinishReason
			}
			turn := g.next("")
			if err := reader.ReadInto(ctx, &turn.reading, in); err != nil {
				return -1, refusal.Below(fmt.Sprintf("/messages/%d", i), err)
			}
			turn.text = turn.reading.Reasoning + "\n" + turn.reading.Content
			tokens = m.count(tokens)
		}
	}
	return tokens, nil
}

// message is what a transcript's message says beside what package parse reads.
type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	EvalCount  *int            `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// model reports whether the message is the model's: the assistant's, or a
// server's error in its place.
func (m message) model() bool { return m.Role == "assistant" || m.Role == "" && m.Error != nil }

func (m message) count(tokens int) int {
	if m.EvalCount == nil || tokens < 0 {
		return -1
	}
	return tokens + *m.EvalCount
}

// contentText is a message's content as text: a string, the text parts of a
// list, or the JSON itself.
func contentText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) == nil {
		for _, part := range parts {
			text += part.Text
		}
		return text
	}
	return string(content)
}
