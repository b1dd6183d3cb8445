package strictjson

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// str reads a string; the position stands on its quote. A string without
// escapes is a slice of the text.
func (r *reader) str() (string, *Error) {
	quote := r.text[r.pos]
	if quote == '\'' {
		r.mends |= MendPython
	}
	r.pos++
	start, ascii := r.pos, true
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		switch {
		case c == quote:
			part := r.text[start:r.pos]
			if !ascii {
				if err := r.checkUTF8(part, start); err != nil {
					return "", err
				}
			}
			r.pos++
			return part, r.checkSize()
		case c == '\\':
			return r.escaped(quote, start)
		case c < ' ':
			if err := r.control(c); err != nil {
				return "", err
			}
		case c >= utf8.RuneSelf:
			ascii = false
		}
		r.pos++
	}
	return "", r.fail(Unterminated, len(r.text), "the text ends inside a string")
}

func (r *reader) checkSize() *Error {
	if r.pos > r.limits.Size {
		return r.fail(TooLarge, r.pos, "more than %d bytes", r.limits.Size)
	}
	return nil
}

func (r *reader) control(c byte) *Error {
	if r.mode&MendControl == 0 {
		return r.fail(ControlCharacter, r.pos, "the control character %q in a string", c)
	}
	r.mends |= MendControl
	return nil
}

func (r *reader) checkUTF8(part string, at int) *Error {
	if utf8.ValidString(part) {
		return nil
	}
	for i := 0; i < len(part); {
		c, n := utf8.DecodeRuneInString(part[i:])
		if c == utf8.RuneError && n == 1 {
			at += i
			break
		}
		i += n
	}
	return r.fail(InvalidUTF8, at, "a byte that is no UTF-8 in a string")
}

// escaped goes on with a string from its first backslash.
func (r *reader) escaped(quote byte, start int) (string, *Error) {
	var b strings.Builder
	begin := start
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == quote:
			b.WriteString(r.text[start:r.pos])
			if err := r.checkUTF8(r.text[begin:r.pos], begin); err != nil {
				return "", err
			}
			r.pos++
			return b.String(), r.checkSize()
		case c == '\\':
			b.WriteString(r.text[start:r.pos])
			if err := r.escape(&b); err != nil {
				return "", err
			}
			start = r.pos
		case c < ' ':
			if err := r.control(c); err != nil {
				return "", err
			}
			r.pos++
		default:
			r.pos++
		}
	}
	return "", r.fail(Unterminated, len(r.text), "the text ends inside a string")
}

// escape reads one escape sequence; the position stands on the backslash.
func (r *reader) escape(b *strings.Builder) *Error {
	if r.pos+1 >= len(r.text) {
		return r.fail(Unterminated, len(r.text), "the text ends inside a string")
	}
	c := r.text[r.pos+1]
	switch c {
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'b', 'f', 'n', 'r', 't':
		b.WriteByte(controls[c-'b'])
	case 'u':
		return r.unicodeEscape(b)
	default:
		if r.mode&pythonEscapes != 0 {
			return r.pythonEscape(b, c)
		}
		return r.fail(BadEscape, r.pos, `the escape \%c`, c)
	}
	r.pos += 2
	return nil
}

const controls = "\b***\f*******\n***\r*\t"

// unicodeEscape reads \uXXXX, or two of them that form a surrogate pair.
func (r *reader) unicodeEscape(b *strings.Builder) *Error {
	first, err := r.hex4(r.pos)
	if err != nil {
		return err
	}
	at := r.pos
	r.pos += 6
	if !utf16.IsSurrogate(first) {
		b.WriteRune(first)
		return nil
	}
	if strings.HasPrefix(r.text[r.pos:], `\u`) {
		second, err := r.hex4(r.pos)
		if err != nil {
			return err
		}
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			r.pos += 6
			b.WriteRune(pair)
			return nil
		}
	}
	if r.mode&MendSurrogate == 0 {
		return r.fail(LoneSurrogate, at, "half of a surrogate pair")
	}
	r.mends |= MendSurrogate
	b.WriteRune(utf8.RuneError)
	return nil
}

// hex4 reads the digits of the \uXXXX at an offset.
func (r *reader) hex4(at int) (rune, *Error) {
	if at+6 > len(r.text) {
		return 0, r.fail(Unterminated, len(r.text), "the text ends inside an escape")
	}
	code, err := strconv.ParseUint(r.text[at+2:at+6], 16, 32)
	if err != nil {
		return 0, r.fail(BadEscape, at, `\u without four hexadecimal digits`)
	}
	return rune(code), nil
}

// Append writes a value that [Decode] could have read: keys sorted, numbers as
// they are, text unescaped where JSON allows it, no blanks. The same value gives
// the same bytes. It panics if the value holds another Go type.
func Append(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case json.Number:
		return append(dst, v...)
	case string:
		return AppendString(dst, v)
	case []any:
		return appendList(dst, v)
	case map[string]any:
		return appendObject(dst, v)
	}
	panic("strictjson.Append: not a JSON value")
}

func appendList(dst []byte, list []any) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Append(dst, item)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, object map[string]any) []byte {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, key), ':')
		dst = Append(dst, object[key])
	}
	return append(dst, '}')
}

// AppendString writes a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
