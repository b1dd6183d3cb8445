package parse

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"toolgym/internal/strictjson"
)

// Gemma 4: an object with bare keys, its strings between quote tokens,
//
//	<|tool_call>call:f{a:1,b:<|"|>text<|"|>,c:[{d:true}]}<tool_call|>
//
// Whatever stands before the brace is the name, namespaces included.
func gemma4Form() form {
	return form{opens: tokenSet(gemmaToolCall), read: (*scan).gemma4, render: renderGemma4}
}

func (s *scan) gemma4(m mark) bool { return s.gemma(m, `<|"|>`) }

// gemma reads a call whose strings stand between quote tokens.
func (s *scan) gemma(m mark, quote string) bool {
	at := s.skipBlanks(m.end)
	if !s.hasAt(at, "call:") {
		return s.cutHeader(m, m.end)
	}
	from := at + len("call:")
	limit := min(s.end, from+maxHeader)
	size := strings.IndexAny(s.text[from:limit], "{\n<")
	if size < 0 || s.text[from+size] != '{' {
		if s.cutHeader(m, m.end) {
			return true
		}
		s.strangeBlock(m.at, from, m.closer)
		return true
	}
	g := gemmaReader{cursor: cursor{s: s, at: from + size, start: from + size}, quote: quote, limits: s.reader.Limits.JSON}
	value, failure := g.object()
	s.budget.decode(g.at - g.start)
	if failure != nil {
		s.broken(m.at, g.start, m.closer, failure)
		return true
	}
	a := Attempt{Status: StatusOK, Name: strings.TrimSpace(s.text[from : from+size]), Value: value, Arguments: g.json,
		Raw: s.text[g.start:g.at], Span: Span{m.at, g.at}, Defects: with(nil, mendDefects(g.mends)...)}
	if g.lookalike {
		a.Defects = with(a.Defects, DefectTokenLookalike)
	}
	if a.Name == "" {
		a.fail(StatusMissingName, DefectMissingName)
	}
	s.add(&a)
	s.closeWrapper(s.strayClosers(g.at, m.closer), m.closer)
	return true
}

// gemmaReader reads the values of one call. json is written along the way, so
// that the order of the keys is kept.
type gemmaReader struct {
	cursor
	quote     string
	depth     int
	values    int
	limits    strictjson.Limits
	json      []byte
	mends     strictjson.Mends
	lookalike bool // JSON's quotes where the tokens are due
}

// open enters an object or list and reports whether it is empty.
func (g *gemmaReader) open(closer string) (empty bool, err *strictjson.Error) {
	if g.depth++; g.depth > g.limits.Depth {
		return false, g.fail(strictjson.TooDeep, "nesting is too deep")
	}
	g.json = append(g.json, g.s.text[g.at])
	g.at = g.s.skipBlanks(g.at + 1)
	return g.s.hasAt(g.at, closer), nil
}

func (g *gemmaReader) close() {
	g.depth--
	g.json = append(g.json, g.s.text[g.at])
	g.at++
}

// more reads the comma between two members; false means that the closer
// stands there.
func (g *gemmaReader) more(closer string) (bool, *strictjson.Error) {
	g.at = g.s.skipBlanks(g.at)
	if g.s.hasAt(g.at, closer) {
		return false, nil
	}
	if !g.s.hasAt(g.at, ",") {
		return false, g.due("a comma or closing bracket")
	}
	g.at = g.s.skipBlanks(g.at + 1)
	if g.s.hasAt(g.at, closer) {
		g.mends |= strictjson.MendComma
		return false, nil
	}
	g.json = append(g.json, ',')
	return true, nil
}

func (g *gemmaReader) object() (map[string]any, *strictjson.Error) {
	object := map[string]any{}
	empty, err := g.open("}")
	for more := !empty; more && err == nil; {
		var key string
		if key, err = g.key(); err != nil {
			break
		}
		if _, twice := object[key]; twice {
			return nil, g.fail(strictjson.DuplicateKey, "the key stands there twice")
		}
		g.json = append(strictjson.AppendString(g.json, key), ':')
		if object[key], err = g.value(); err == nil {
			more, err = g.more("}")
		}
	}
	if err != nil {
		return nil, err
	}
	g.close()
	return object, nil
}

func (g *gemmaReader) list() (any, *strictjson.Error) {
	list := []any{}
	empty, err := g.open("]")
	for more := !empty; more && err == nil; {
		var value any
		if value, err = g.value(); err == nil {
			list = append(list, value)
			more, err = g.more("]")
		}
	}
	if err != nil {
		return nil, err
	}
	g.close()
	return list, nil
}

// key reads a bare key, or a quoted one, and the colon behind it.
func (g *gemmaReader) key() (key string, err *strictjson.Error) {
	switch {
	case g.s.hasAt(g.at, g.quote), g.s.hasAt(g.at, `"`):
		if key, err = g.text(); err != nil {
			return "", err
		}
	default:
		end := g.at
		for end < g.s.end && (isNameByte(g.s.text[end]) || g.s.text[end] == ' ') {
			end++
		}
		key, g.at = strings.TrimSpace(g.s.text[g.at:end]), end
	}
	if g.at = g.s.skipBlanks(g.at); key == "" || !g.s.hasAt(g.at, ":") {
		return "", g.due("a key and a colon")
	}
	g.at = g.s.skipBlanks(g.at + 1)
	return key, nil
}

func (g *gemmaReader) value() (any, *strictjson.Error) {
	if g.values++; g.values > g.limits.Values {
		return nil, g.fail(strictjson.TooLarge, "too many values")
	}
	switch {
	case g.s.hasAt(g.at, g.quote), g.s.hasAt(g.at, `"`):
		text, err := g.text()
		if err != nil {
			return nil, err
		}
		g.json = strictjson.AppendString(g.json, text)
		return text, nil
	case g.s.hasAt(g.at, "{"):
		return g.object()
	case g.s.hasAt(g.at, "["):
		return g.list()
	case g.s.hasAt(g.at, "'"):
		return nil, g.due("a value")
	}
	return g.literal()
}

func (g *gemmaReader) literal() (any, *strictjson.Error) {
	value, size, mends, err := g.limits.Literal(g.s.text[g.at:g.s.end])
	if failure, ok := errors.AsType[*strictjson.Error](err); ok {
		g.at += failure.Offset
		return nil, g.fail(failure.Kind, failure.Message)
	}
	g.at += size
	g.mends |= mends
	g.json = strictjson.Append(g.json, value)
	return value, nil
}

// text reads a string between quote tokens, which knows no escapes, or one in
// JSON's quotes.
func (g *gemmaReader) text() (string, *strictjson.Error) {
	if !g.s.hasAt(g.at, g.quote) {
		g.lookalike = true
		value, size, err := g.limits.Prefix(g.s.text[g.at:g.s.end])
		if failure, ok := errors.AsType[*strictjson.Error](err); ok {
			g.at += failure.Offset
			return "", g.fail(failure.Kind, failure.Message)
		}
		g.at += size
		return value.(string), nil
	}
	from := g.at + len(g.quote)
	end := g.s.find(g.quote, from)
	if end < 0 {
		g.at = g.s.end
		return "", g.fail(strictjson.Unterminated, "the text ends inside a string")
	}
	text := g.s.text[from:end]
	if text != strings.ToValidUTF8(text, "") {
		return "", g.fail(strictjson.InvalidUTF8, "a byte that is no UTF-8 in a string")
	}
	g.at = end + len(g.quote)
	return text, nil
}

func renderGemma4(calls []renderable) (string, error) {
	return renderGemma(calls, "<|tool_call>", `<|"|>`, "<tool_call|>")
}

func renderGemma(calls []renderable, opener, quote, closer string) (string, error) {
	var b []byte
	for _, c := range calls {
		b = append(b, opener+"call:"+c.name+"{"...)
		for i, m := range c.members {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			b = append(b, m.Key+":"...)
			if b, ok = appendGemma(b, m.Value, quote); !ok || !isBareKey(m.Key) {
				return "", c.unwritable(m.Key)
			}
		}
		b = append(b, "}"+closer...)
	}
	return string(b), nil
}

func isBareKey(key string) bool {
	for i := range len(key) {
		if !isNameByte(key[i]) {
			return false
		}
	}
	return key != ""
}

// appendGemma writes a value; ok is false where the form has no way to.
func appendGemma(b []byte, value any, quote string) (out []byte, ok bool) {
	switch v := value.(type) {
	case string:
		return append(b, quote+v+quote...), strings.Index(v+quote, quote) == len(v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendGemma(b, item, quote); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, key+":"...)
			if b, ok = appendGemma(b, v[key], quote); !ok || !isBareKey(key) {
				return b, false
			}
		}
		return append(b, '}'), true
	}
	return strictjson.Append(b, value), true
}

// FunctionGemma: like Gemma 4 with other tokens,
//
//	<start_function_call>call:f{a:<escape>text<escape>,b:2}<end_function_call>
func functionGemmaForm() form {
	return form{opens: tokenSet(gemmaFunctionCall), read: (*scan).functionGemma, render: renderFunctionGemma}
}

func (s *scan) functionGemma(m mark) bool { return s.gemma(m, "<escape>") }

func renderFunctionGemma(calls []renderable) (string, error) {
	return renderGemma(calls, "<start_function_call>", "<escape>", "<end_function_call>")
}
