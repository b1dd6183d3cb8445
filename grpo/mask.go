package grpo

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
)

// Spans returns what a completion's episode says, and which bytes of it the
// model wrote. The text of a completion of one text is that, and all of it is
// the model's. The text of messages is the contents of the assistant's and the
// tools' messages, one after another; the model's are the assistant's.
func (c Completion) Spans() (text string, own []parse.Span, err error) {
	if c.Text != nil {
		return *c.Text, []parse.Span{{Start: 0, End: len(*c.Text)}}, nil
	}
	var b strings.Builder
	for i, raw := range c.Messages {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return "", nil, refusal.New(fmt.Sprintf("/messages/%d", i), "a chat message", "%v", err)
		}
		if m.Role != "assistant" && m.Role != "tool" {
			continue
		}
		start := b.Len()
		b.WriteString(contentText(m.Content))
		if m.Role == "assistant" && b.Len() > start {
			own = append(own, parse.Span{Start: start, End: b.Len()})
		}
	}
	return b.String(), own, nil
}

// Mask is the token mask of a text that was tokenised elsewhere: 1 for a token
// whose bytes are all the model's own, 0 for any other. tokens are the tokens'
// byte spans; both lists are in the order of the text. A token without bytes
// is 0.
func Mask(tokens, own []parse.Span) []int {
	mask := make([]int, len(tokens))
	next := 0
	for i, t := range tokens {
		for next < len(own) && own[next].End < t.End {
			next++
		}
		if next < len(own) && t.Start < t.End && own[next].Start <= t.Start {
			mask[i] = 1
		}
	}
	return mask
}
