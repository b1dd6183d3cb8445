package strictjson

import (
	"encoding/json"
	"slices"
)

// reader is one pass over a text. mode says which misspellings are accepted
// instead of refused; mends collects those that were met.
type reader struct {
	text   string
	pos    int
	depth  int
	values int
	limits Limits
	mode   Mends
	mends  Mends
	spare  *Spare // nil where every object is new
}

func (r *reader) skipBlanks() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the byte at the position, 0 at the end.
func (r *reader) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// value reads one value; the position stands on its first byte.
func (r *reader) value() (any, *Error) {
	if r.values++; r.values > r.limits.Values {
		return nil, r.fail(TooLarge, r.pos, "more than %d values", r.limits.Values)
	}
	if r.pos > r.limits.Size {
		return nil, r.fail(TooLarge, r.pos, "more than %d bytes", r.limits.Size)
	}
	switch c := r.peek(); {
	case c == '"':
		return boxed(r.str())
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '-' || c >= '0' && c <= '9':
		number, err := r.number()
		if err != nil {
			return nil, err
		}
		return json.Number(number), nil
	case c == '\'' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return r.word()
	default:
		return r.otherValue()
	}
}

// boxed keeps a failed string from becoming a non-nil any.
func boxed(s string, err *Error) (any, *Error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// otherValue reads what only Python starts a value with (.5, +1).
func (r *reader) otherValue() (any, *Error) {
	if c := r.peek(); r.mode&MendPython != 0 && (c == '.' || c == '+') {
		number, err := r.pythonNumber()
		if err != nil {
			return nil, err
		}
		return json.Number(number), nil
	}
	return nil, r.unexpected("a value")
}

func (r *reader) enter() *Error {
	if r.depth++; r.depth > r.limits.Depth {
		return r.fail(TooDeep, r.pos, "nesting deeper than %d", r.limits.Depth)
	}
	r.pos++
	r.skipBlanks()
	return nil
}

func (r *reader) leave() {
	r.depth--
	r.pos++
}

func (r *reader) array() (any, *Error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	list := []any{}
	for r.peek() != ']' {
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if err := r.separator(']'); err != nil {
			return nil, err
		}
	}
	r.leave()
	return list, nil
}

func (r *reader) object() (any, *Error) {
	object := r.spare.take()
	err := r.members(func(at int, key string, value any, _ int) *Error {
		before := len(object)
		if object[key] = value; len(object) == before {
			return r.duplicate(at, key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return object, nil
}

// topObject reads an object and appends its members, in their order and with
// their spans, to a list.
func (r *reader) topObject(list []Member) ([]Member, *Error) {
	r.skipBlanks()
	if r.peek() != '{' {
		return nil, r.unexpected("an object")
	}
	list = slices.Grow(list, 4) // as most objects have, or fewer
	seen := keySet{}
	err := r.members(func(at int, key string, value any, start int) *Error {
		if !seen.add(key) {
			return r.duplicate(at, key)
		}
		list = append(list, Member{Key: key, Value: value, Start: start, End: r.pos})
		return nil
	})
	return list, err
}

func (r *reader) duplicate(at int, key string) *Error {
	return r.fail(DuplicateKey, at, "the key %.80q stands twice in one object", key)
}

// members walks through an object and hands each member over together with
// the offsets of its key and of its value.
func (r *reader) members(add func(at int, key string, value any, start int) *Error) *Error {
	if err := r.enter(); err != nil {
		return err
	}
	for r.peek() != '}' {
		at := r.pos
		key, err := r.key()
		if err != nil {
			return err
		}
		start := r.pos
		value, err := r.value()
		if err != nil {
			return err
		}
		if err := add(at, key, value, start); err != nil {
			return err
		}
		if err := r.separator('}'); err != nil {
			return err
		}
	}
	r.leave()
	return nil
}

// key reads a key, its colon and the blanks around it.
func (r *reader) key() (string, *Error) {
	if c := r.peek(); c != '"' && (c != '\'' || r.mode&MendPython == 0) {
		if c == '\'' {
			return "", r.fail(PythonLiteral, r.pos, "a key in single quotes")
		}
		return "", r.unexpected("a key in double quotes")
	}
	key, err := r.str()
	if err != nil {
		return "", err
	}
	r.skipBlanks()
	if r.peek() != ':' {
		return "", r.afterString("a colon")
	}
	r.pos++
	r.skipBlanks()
	return key, nil
}

// separator reads the comma between two members, or stops before the closer.
func (r *reader) separator(closer byte) *Error {
	r.skipBlanks()
	switch r.peek() {
	case closer:
		return nil
	case ',':
	default:
		return r.afterString("a comma or closing bracket")
	}
	comma := r.pos
	r.pos++
	r.skipBlanks()
	if r.peek() != closer {
		return nil
	}
	if r.mode&MendComma == 0 {
		return r.fail(TrailingComma, comma, "a comma before a closing bracket")
	}
	r.mends |= MendComma
	return nil
}

// afterString reports an unexpected byte; directly after a string, a letter,
// digit or quote means that the string was to go on.
func (r *reader) afterString(want string) *Error {
	err := r.unexpected(want)
	back := r.pos - 1
	for back >= 0 && isBlank(r.text[back]) {
		back--
	}
	if err.Kind == Unexpected && back >= 0 && r.text[back] == '"' && r.text[r.pos] != '}' && r.text[r.pos] != ']' {
		err.Kind = UnescapedQuote
	}
	return err
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t'
}
