package parse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// message is what a server answered, put together from whichever shape it
// came in.
type message struct {
	content   strings.Builder
	reasoning strings.Builder
	calls     []toolCall
	finish    string
	generated json.Number // tokens that the server says it generated
	failure   string      // the message of an error body
	failed    bool
	most      int // calls that are read
	depth     int // objects around the one that is being read
}

// maxDescent is the depth of a message in the deepest answer that a server
// sends: OpenAI's, in a choice. Each level is decoded once more.
const maxDescent = 2

// toolCall is one entry of tool_calls.
type toolCall struct {
	id, name  string
	arguments any // an object, a string that holds one, or nil
	raw       string
	mends     strictjson.Mends // of the server's JSON around an object
	span      Span
}

// readMessage reads a server's body: a chat message, alone or within Ollama's or
// OpenAI's answer, or an error.
func (r *Reader) readMessage(ctx context.Context, in Input) (Reading, error) {
	members, err := wholeObject(string(in.Message))
	if err != nil {
		return Reading{}, refusal.New("/message", "a chat message, or an error body", "the message is no JSON object: %v", err)
	}
	m := message{most: r.Limits.Attempts + 1}
	m.read(string(in.Message), 0, members)
	return r.readAnswer(ctx, &m, in), nil
}

// wholeObject is decodeObject for a text that holds nothing else.
func wholeObject(text string) ([]strictjson.Member, error) {
	members, size, _, err := decodeObject(text)
	if err == nil && strings.TrimSpace(text[size:]) != "" {
		err = errors.New("more follows the object")
	}
	return members, err
}

// decodeObject decodes the object at the start of a server's text strictly, but
// for halves of surrogate pairs: a model can generate them, and the server
// passes them on.
func decodeObject(text string) (members []strictjson.Member, size int, mends strictjson.Mends, err error) {
	limits := strictjson.Defaults()
	members, size, err = limits.Object(text)
	if failure, ok := errors.AsType[*strictjson.Error](err); ok && failure.Kind == strictjson.LoneSurrogate {
		mended, end, mends, mendErr := limits.Mend(text)
		if mendErr == nil && mends == strictjson.MendSurrogate {
			return mended, end, mends, nil
		}
	}
	return members, size, 0, err
}

// read takes over what the members of a body say; base is the body's offset
// in the text.
func (m *message) read(text string, base int, members []strictjson.Member) {
	for _, member := range members {
		switch value := member.Value.(type) {
		case string:
			m.readText(member.Key, value)
		case json.Number:
			if member.Key == "eval_count" || member.Key == "completion_tokens" {
				m.generated = value
			}
		case map[string]any:
			m.readObject(text, base, member, value)
		case []any:
			m.readList(text, base, member, value)
		}
	}
}

func (m *message) readText(key, value string) {
	switch key {
	case "content":
		m.content.WriteString(value)
	case "thinking", "reasoning", "reasoning_content":
		m.reasoning.WriteString(value)
	case "finish_reason", "done_reason":
		m.finish = value
	case "error":
		m.failure, m.failed = value, true
	}
}

func (m *message) readObject(text string, base int, member strictjson.Member, value map[string]any) {
	switch member.Key {
	case "message", "usage":
		m.descend(text, base+member.Start)
	case "error":
		m.failed = true
		if m.failure, _ = value["message"].(string); m.failure == "" {
			m.failure = text[base+member.Start : base+member.End]
		}
	}
}

func (m *message) readList(text string, base int, member strictjson.Member, value []any) {
	switch member.Key {
	case "choices":
		if len(value) > 0 {
			m.descend(text, base+member.Start+strings.IndexByte(text[base+member.Start:], '{'))
		}
	case "content":
		for _, part := range value {
			if object, ok := part.(map[string]any); ok {
				piece, _ := object["text"].(string)
				m.content.WriteString(piece)
			}
		}
	case "tool_calls":
		m.readCalls(text, base+member.Start, value)
	}
}

// descend reads the object at an offset of the text.
func (m *message) descend(text string, at int) {
	if at < 0 || at >= len(text) || m.depth >= maxDescent {
		return
	}
	if members, _, _, err := decodeObject(text[at:]); err == nil {
		m.depth++
		m.read(text, at, members)
		m.depth--
	}
}

// readCalls reads the list at an offset, whose entries' spans it finds by
// decoding them again.
func (m *message) readCalls(text string, at int, list []any) {
	at++
	for _, entry := range list {
		if len(m.calls) >= m.most {
			return
		}
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \n\r\t,"))
		if _, ok := entry.(map[string]any); !ok {
			m.calls = append(m.calls, toolCall{span: Span{at, at}})
			if _, size, err := strictjson.Defaults().Prefix(text[at:]); err == nil {
				at += size
			}
			continue
		}
		c, size := newToolCall(text, at)
		m.calls = append(m.calls, c)
		at += size
	}
}

// newToolCall reads the entry at an offset, {"id","function":{"name","arguments"}},
// and returns its size.
func newToolCall(text string, at int) (c toolCall, size int) {
	members, size, _, _ := decodeObject(text[at:])
	c.span = Span{at, at + size}
	for _, member := range members {
		switch member.Key {
		case "id":
			c.id, _ = member.Value.(string)
		case "function":
			from := at + member.Start
			inner, _, mends, _ := decodeObject(text[from:])
			c.mends = mends
			for _, part := range inner {
				switch part.Key {
				case "name":
					c.name, _ = part.Value.(string)
				case "arguments":
					c.arguments, c.raw = part.Value, text[from+part.Start:from+part.End]
				}
			}
		}
	}
	return c, size
}

// readAnswer reads what a server answered. Where structured calls exist, the
// content is not scanned.
func (r *Reader) readAnswer(ctx context.Context, m *message, in Input) Reading {
	finish := in.FinishReason
	if finish == "" {
		finish = m.finish
	}
	if m.failed {
		return r.readError(ctx, m.failure)
	}
	content := m.content.String()
	if len(m.calls) == 0 {
		reading := r.readContent(ctx, content, in.Family, finish)
		reading.Reasoning = strings.TrimSpace(m.reasoning.String() + reading.Reasoning)
		if m.lost() {
			return lostOutput(reading, m.generated)
		}
		return reading
	}
	reading := Reading{Family: Structured, Content: strings.TrimSpace(content), Reasoning: strings.TrimSpace(m.reasoning.String())}
	s := scan{reader: r, family: Structured, cutOff: finish == "length"}
	for i, c := range m.calls {
		if i == r.Limits.Attempts {
			s.attempts = append(s.attempts, Attempt{Family: Structured, Status: StatusMalformed, Defects: []Defect{DefectTooMany}})
			break
		}
		s.attempts = append(s.attempts, s.structured(c))
	}
	reading.Attempts = s.attempts
	r.judge(ctx, &reading)
	return reading
}

// readContent reads a message without structured calls. Calls found by auto are
// at best envelope; a declared family says that the server leaves calls in the
// text.
func (r *Reader) readContent(ctx context.Context, content string, family Family, finish string) (reading Reading) {
	if family == "" || family == Auto || family == Structured {
		r.readText(ctx, &reading, content, Structured, finish)
		if reading.Family == Auto {
			reading.Family = Structured
		}
		return reading
	}
	r.readText(ctx, &reading, content, family, finish)
	return reading
}

// lost reports that the server generated tokens and gave none of them away. One
// token is the end of an empty turn.
func (m *message) lost() bool {
	return m.content.Len() == 0 && m.reasoning.Len() == 0 && m.generated != "" && m.generated != "0" && m.generated != "1"
}

func lostOutput(reading Reading, generated json.Number) Reading {
	reading.Tier, reading.FormatOK = None, false
	reading.Defects = with(reading.Defects, DefectLostOutput)
	reading.Failure = &Failure{Kind: "serving", Reason: fmt.Sprintf("the server generated %s tokens and sent an empty message", generated)}
	return reading
}
