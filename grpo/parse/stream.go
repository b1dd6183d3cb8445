package parse

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// readStream puts the chunks of a stream together (OpenAI's deltas, or Ollama's
// lines) and reads the result.
func (r *Reader) readStream(ctx context.Context, in Input) (Reading, error) {
	a := assembly{byIndex: map[string]*fragment{}}
	for i, chunk := range in.Stream {
		members, err := wholeObject(string(chunk))
		if err != nil {
			return Reading{}, refusal.New(fmt.Sprintf("/stream/%d", i), "a chunk of an answer", "the chunk is no JSON object: %v", err)
		}
		a.chunk(members)
	}
	for _, f := range a.calls {
		a.message.calls = append(a.message.calls, f.call())
	}
	return r.readAnswer(ctx, &a.message, in), nil
}

// assembly joins the deltas of one answer.
type assembly struct {
	message message
	calls   []*fragment
	byIndex map[string]*fragment // the call that a delta of an index goes on with
}

// fragment is a call that is being put together.
type fragment struct {
	id, name  string
	arguments strings.Builder
	object    map[string]any // where a server sends them whole, as Ollama does
	balance   balance
}

func (f *fragment) call() toolCall {
	c := toolCall{id: f.id, name: f.name, arguments: f.arguments.String()}
	if f.object != nil {
		c.arguments, c.raw = f.object, string(strictjson.Append(nil, f.object))
	}
	return c
}

func (a *assembly) chunk(members []strictjson.Member) {
	for _, member := range members {
		key := member.Key
		switch v := member.Value.(type) {
		case string:
			if key == "done_reason" || key == "error" {
				a.message.readText(key, v)
			}
		case json.Number:
			if key == "eval_count" {
				a.message.generated = v
			}
		case map[string]any:
			a.object(key, v)
		case []any:
			if key == "choices" && len(v) > 0 {
				a.choice(v[0])
			}
		}
	}
}

func (a *assembly) object(key string, object map[string]any) {
	switch key {
	case "message":
		a.delta(object)
	case "usage":
		if tokens, ok := object["completion_tokens"].(json.Number); ok {
			a.message.generated = tokens
		}
	case "error":
		a.message.failed = true
		if a.message.failure, _ = object["message"].(string); a.message.failure == "" {
			a.message.failure = string(strictjson.Append(nil, object))
		}
	}
}

// choice reads the first choice of a chunk; the index of a choice other than
// the first is another completion.
func (a *assembly) choice(value any) {
	choice, _ := value.(map[string]any)
	if index, ok := choice["index"].(json.Number); ok && index != "0" {
		return
	}
	if finish, ok := choice["finish_reason"].(string); ok {
		a.message.finish = finish
	}
	for _, key := range [...]string{"delta", "message"} {
		if delta, ok := choice[key].(map[string]any); ok {
			a.delta(delta)
		}
	}
}

func (a *assembly) delta(delta map[string]any) {
	for _, key := range [...]string{"content", "thinking", "reasoning", "reasoning_content"} {
		if text, ok := delta[key].(string); ok {
			a.message.readText(key, text)
		}
	}
	list, _ := delta["tool_calls"].([]any)
	for _, item := range list {
		if call, ok := item.(map[string]any); ok {
			a.toolCall(call)
		}
	}
}

// toolCall joins one delta of a call: by index, while the identifier is absent
// or the same. A new identifier starts a new call, and so does a name after
// complete arguments or a different name.
func (a *assembly) toolCall(delta map[string]any) {
	id, _ := delta["id"].(string)
	function, _ := delta["function"].(map[string]any)
	name, _ := function["name"].(string)
	index := ""
	if n, ok := delta["index"].(json.Number); ok {
		index = string(n)
	}
	f := a.byIndex[index]
	if f == nil || f.endsBefore(id, name) || index == "" && f.object != nil {
		f = &fragment{}
		a.calls = append(a.calls, f)
		a.byIndex[index] = f
	}
	if id != "" {
		f.id = id
	}
	if name != "" {
		f.name = name
	}
	switch arguments := function["arguments"].(type) {
	case string:
		f.arguments.WriteString(arguments)
		f.balance.add(arguments)
	case map[string]any:
		f.object = arguments
	}
}

// endsBefore reports whether a delta with this identifier and name belongs to
// another call.
func (f *fragment) endsBefore(id, name string) bool {
	switch {
	case id != "" && f.id != "" && id != f.id:
		return true
	case name == "" || f.name == "":
		return false
	case id != "" && id == f.id:
		return false
	}
	return name != f.name || f.balance.complete()
}

// balance follows brackets and strings, so that it is known without decoding
// whether the arguments so far are a whole object.
type balance struct {
	depth   int
	started bool
	text    bool
	escape  bool
}

func (b *balance) add(part string) {
	for i := range len(part) {
		switch c := part[i]; {
		case b.escape:
			b.escape = false
		case b.text:
			b.escape, b.text = c == '\\', c != '"'
		case c == '"':
			b.text = true
		case c == '{' || c == '[':
			b.depth, b.started = b.depth+1, true
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

func (b *balance) complete() bool { return b.started && b.depth <= 0 && !b.text }
