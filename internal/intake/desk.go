package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// maxBytes bounds what a desk remembers: the texts of lists and what they compile
// to. When it is reached the desk forgets all. A list that takes more alone is not
// remembered.
const maxBytes = 64 << 20

// entryBytes is what an entry of the map takes beside.
const entryBytes = 512

// A Desk takes requests in. The zero Desk is ready for use.
type Desk struct {
	mu    sync.RWMutex
	known map[string]declared
	bytes int
}

// declared is a tool list as it was compiled, or why it could not be.
type declared struct {
	set    tools.Set
	reader *parse.Reader
	err    error
}

// Tools reads a JSON list of tools; empty text and null mean none. The set may
// be shared: it is not to be changed. The error's place is relative to the list.
func (d *Desk) Tools(list []byte) (tools.Set, error) {
	found := d.find(list)
	return found.set, found.err
}

func (d *Desk) find(list []byte) declared {
	d.mu.RLock()
	found, ok := d.known[string(list)]
	d.mu.RUnlock()
	if ok {
		return found
	}
	found.set, found.err = decodeTools(list)
	found.reader = parse.NewReader(found.set)
	d.mu.Lock()
	defer d.mu.Unlock()
	size := entryBytes + len(list) + found.set.Memory()
	if _, ok := d.known[string(list)]; ok || size > maxBytes { // another request was as fast
		return found
	}
	if d.bytes+size > maxBytes || d.known == nil {
		d.known, d.bytes = map[string]declared{}, 0
	}
	d.known[string(list)] = found
	d.bytes += size
	return found
}

// decodeTools compiles the tools of a list one by one, so that its error can
// say which of them is wrong.
func decodeTools(list []byte) (tools.Set, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if list[0] != '[' && string(list) != "null" {
		return nil, refusal.New("", "a list of tools", "%s", kindOf(list))
	}
	var set tools.Set
	if err := set.UnmarshalJSON(list); err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, refusal.Relocate(err, func(where string) string { return strings.TrimPrefix(where, "/tools") })
	}
	return set, nil
}

// Read reads a body of POST /v1/parse and then what it holds. It ends with the
// context, whose error it returns then.
func (d *Desk) Read(ctx context.Context, body []byte) (parse.Reading, error) {
	members, err := object(string(body))
	if err != nil {
		return parse.Reading{}, err
	}
	var in parse.Input
	var list []byte
	for _, m := range members {
		text := body[m.Start:m.End]
		if m.Key == "tools" {
			list = text
		} else if err := take(&in, m.Key, m.Value, text); err != nil {
			return parse.Reading{}, refusal.Below(strictjson.Pointer(fmt.Sprintf("%.80s", m.Key)), err)
		}
	}
	found := d.find(list)
	if found.err != nil {
		return parse.Reading{}, refusal.Below("/tools", found.err)
	}
	var reading parse.Reading
	err = found.reader.ReadInto(ctx, &reading, in)
	return reading, err
}

// take puts one field of the body into the input.
func take(in *parse.Input, key string, value any, text []byte) error {
	switch key {
	case "text":
		in.Text = new(string)
		return takeText(in.Text, value, text)
	case "family":
		return takeText((*string)(&in.Family), value, text)
	case "finish_reason":
		return takeText(&in.FinishReason, value, text)
	case "message":
		in.Message = text
		if _, ok := value.(map[string]any); !ok {
			return refusal.New("", "a chat message, or an error body", "%s", kindOf(text))
		}
	case "stream":
		if _, ok := value.([]any); !ok {
			return refusal.New("", "a list of chunks", "%s", kindOf(text))
		}
		if err := json.Unmarshal(text, &in.Stream); err != nil {
			return fmt.Errorf("separating chunks: %w", err) // it was decoded before
		}
	default:
		return refusal.New("", "only text, message, stream, family, finish_reason, tools", "unknown field %.80q", key)
	}
	return nil
}

func takeText(to *string, value any, text []byte) error {
	read, ok := value.(string)
	if !ok {
		return refusal.New("", "a text", "%s", kindOf(text))
	}
	*to = read
	return nil
}

// object reads exactly one JSON object, its members in order.
func object(text string) ([]strictjson.Member, error) {
	members, end, err := strictjson.Defaults().Object(text)
	if err != nil {
		return nil, refusal.New("", "one JSON object", "%v", err)
	}
	if rest := strings.TrimLeft(text[end:], " \t\r\n"); rest != "" {
		return nil, refusal.New("", "one JSON object", "%q after it", rest[0])
	}
	return members, nil
}

// kindOf names what a JSON text is.
func kindOf(text []byte) string {
	switch {
	case len(text) == 0:
		return "nothing"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "a list"
	case text[0] == '"':
		return "a text"
	}
	return fmt.Sprintf("%.80s", text)
}
