package parse

import (
	"maps"
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Render writes calls in a family's native form, so that Read gives them back:
// in families whose values stand as text between tags, under the schemas that
// typed them. It is what the raw route shows a model as its own earlier turn.
//
// The error is a [*tools.Error]: the family has no form of its own (auto,
// structured), the arguments are no object, or a name, a key or a text holds
// what the form cannot express.
func Render(family Family, calls []tools.Call) (string, error) {
	render := formOf(family).render
	if render == nil {
		return "", refusal.New("/family", "a family with a native text form", "calls have no text form in family %.60q", family)
	}
	if len(calls) == 0 {
		return "", nil
	}
	list := make([]renderable, len(calls))
	for i, call := range calls {
		r, err := newRenderable(family, call)
		if err != nil {
			return "", err
		}
		list[i] = r
	}
	return render(list)
}

// renderable is a call whose arguments were decoded.
type renderable struct {
	name      string
	arguments string // as JSON
	members   []argument
}

type argument struct{ strictjson.Member }

// newRenderable decodes a call's arguments; absent ones are {}.
func newRenderable(family Family, call tools.Call) (renderable, error) {
	r := renderable{name: call.Name, arguments: strings.TrimSpace(string(call.Arguments))}
	if r.arguments == "" {
		r.arguments = "{}"
	}
	members, end, err := strictjson.Defaults().Object(r.arguments)
	if err != nil || end < len(r.arguments) {
		return r, refusal.New("/arguments", "one JSON object", "the arguments of %.60q are no JSON object", call.Name)
	}
	for _, m := range members {
		r.members = append(r.members, argument{m})
	}
	plain := func(c rune) bool { return c > 0x7f || !isNameByte(byte(c)) }
	if quoted := family == Hermes || family == Llama3JSON || family == Granite || family == Phi4Mini || family == Command; !quoted && strings.IndexFunc(call.Name, plain) >= 0 ||
		call.Name == "" || containsAny(call.Name, "<|", "<｜") {
		return r, r.unwritable("name")
	}
	return r, nil
}

func (c renderable) unwritable(what string) error {
	return refusal.New("/"+what, "plain names, and texts without the form's own markers", "%.60q of the call of %.60q cannot be written in this form", what, c.name)
}

// object is the call as a JSON object under two keys.
func (c renderable) object(nameKey, argumentsKey string) string {
	return `{"` + nameKey + `": ` + string(strictjson.AppendString(nil, c.name)) + `, "` + argumentsKey + `": ` + c.arguments + "}"
}

// text is a value between tags: text as it is, everything else as JSON.
func (a argument) text() string {
	if text, ok := a.Value.(string); ok {
		return text
	}
	return string(strictjson.Append(nil, a.Value))
}

// expression is the call as f(a=1).
func (c renderable) expression() (string, error) {
	b := []byte(c.name + "(")
	for i, m := range c.members {
		if i > 0 {
			b = append(b, ", "...)
		}
		if !isBareKey(m.Key) {
			return "", c.unwritable(m.Key)
		}
		b = appendPython(append(b, m.Key+"="...), m.Value)
	}
	return string(append(b, ')')), nil
}

// appendPython writes a value as a literal of Python.
func appendPython(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "None"...)
	case bool:
		if v {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendPython(b, item)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(strictjson.AppendString(b, key), ": "...)
			b = appendPython(b, v[key])
		}
		return append(b, '}')
	}
	return strictjson.Append(b, value)
}

func renderEach(calls []renderable, separator string, write func(renderable) string) string {
	parts := make([]string, len(calls))
	for i, c := range calls {
		parts[i] = write(c)
	}
	return strings.Join(parts, separator)
}

func renderList(calls []renderable) string {
	return "[" + renderEach(calls, ", ", func(c renderable) string { return c.object("name", "arguments") }) + "]"
}
