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

// structured makes an attempt of one entry of tool_calls. Ollama sends the
// arguments as an object and OpenAI as a string; both are native, and so is
// their absence for a call without arguments: that is a matter of transport.
func (s *scan) structured(c toolCall) Attempt {
	a := Attempt{Family: Structured, Status: StatusOK, ID: c.id, Name: c.name, Raw: c.raw, Span: c.span}
	switch value := c.arguments.(type) {
	case nil:
		a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
	case map[string]any:
		a.Value, a.Arguments = value, json.RawMessage(c.raw)
		if c.mends != 0 {
			a.Arguments = strictjson.Append(nil, value)
			a.Defects = with(a.Defects, mendDefects(c.mends)...)
		}
	case string:
		a.Raw = value
		s.stringArguments(&a, value)
	default:
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	}
	if a.cutName(); a.Name == "" {
		a.fail(StatusMissingName, DefectMissingName)
	}
	return a
}

// stringArguments decodes arguments that came as text. What the model misspelt
// is mended or lost as in any other text.
func (s *scan) stringArguments(a *Attempt, text string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed == "null" {
		a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
		return
	}
	limits := s.reader.Limits.JSON
	members, end, err := limits.Object(trimmed)
	var mends strictjson.Mends
	if err != nil {
		members, end, mends, err = limits.Mend(trimmed)
	}
	failure, failed := errors.AsType[*strictjson.Error](err)
	switch {
	case failed && !strings.HasPrefix(trimmed, "{"):
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	case failed:
		inner := scan{reader: s.reader, text: trimmed, end: len(trimmed), cutOff: s.cutOff}
		status, defect := inner.diagnose(failure, failure.Offset, "", false)
		a.fail(status, defect)
	case end < len(trimmed) && strings.Trim(trimmed[end:], "}] \n\r\t") != "":
		a.fail(StatusInvalidJSON, DefectInvalidJSON)
	default:
		a.Raw = trimmed[:end]
		a.takeArguments(members, mends)
		if end < len(trimmed) {
			a.Defects = with(a.Defects, DefectStrayCloser)
		}
	}
}

// readError reads the message of a server's error. One that quotes a call which
// the server could not read is the model's malformed output, an attempt of
// tier none; any other is no reading of the model at all.
func (r *Reader) readError(ctx context.Context, text string) Reading {
	reading := Reading{Family: Structured}
	quoted, ok := r.quotedCall(text)
	if ok {
		reading.Attempts = []Attempt{{Family: Structured, Status: StatusInvalidJSON, Defects: []Defect{DefectUnparsable}, Raw: clipRaw(quoted)}}
	} else {
		reading.Failure = &Failure{Kind: errorKind(text), Reason: strings.ToValidUTF8(text[:min(len(text), maxHeader)], "")}
	}
	r.judge(ctx, &reading)
	if !ok {
		reading.Tier, reading.FormatOK = None, false
	}
	return reading
}

// quotedCall finds the call that an error of reading it quotes: Ollama's
// "error parsing tool call: raw='…'", or a known opener or payload behind a
// word like "parse".
func (r *Reader) quotedCall(text string) (string, bool) {
	lower := strings.ToLower(text)
	if !containsAny(lower, "pars", "unmarshal", "decod", "invalid character", "tool call", "tool_call") {
		return "", false
	}
	if _, quoted, ok := strings.Cut(text, "raw='"); ok {
		if end := strings.LastIndex(quoted, "', err="); end >= 0 {
			quoted = quoted[:end]
		}
		return quoted, strings.TrimSpace(quoted) != ""
	}
	s := scan{reader: r, text: text, end: len(text)}
	if m, ok := s.nextMark(0); ok && m.kind == opener {
		return text[m.at:], true
	}
	brace := strings.IndexByte(text, '{')
	if brace >= 0 && (containsAny(text[brace:], `"name"`, `"arguments"`, `"parameters"`) || s.mentions(text[brace:])) {
		return text[brace:], true
	}
	return "", false
}

func containsAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// errorKind says whom an error without a quoted call speaks of.
func errorKind(text string) string {
	lower := strings.ToLower(text)
	switch {
	case containsAny(lower, "context length", "context size", "context window", "maximum context", "exceeds the available context", "prompt is too long"):
		return "harness"
	case containsAny(lower, "parsing tool call", "parse tool call", "tool call parser", "tool parser"):
		return "serving"
	}
	return "infrastructure"
}
