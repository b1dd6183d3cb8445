package strictjson

import (
	"fmt"
	"slices"
	"strings"
)

// Limits bound what one value may cost. Use [Defaults] and change fields; zero
// means zero.
type Limits struct {
	Depth    int // nesting of arrays and objects
	Values   int // values of all kinds, keys not counted
	Size     int // bytes of text that one value may span
	Number   int // characters of one number
	Exponent int // magnitude of a number's exponent
}

// Defaults are the limits of [Decode]: depth 128, a million values, 64 MiB,
// numbers of 4,096 characters with exponents up to a thousand million. Such a
// number is kept as text; who computes with it must bound it first.
func Defaults() Limits {
	return Limits{Depth: 128, Values: 1_000_000, Size: 64 << 20, Number: 4096, Exponent: 1_000_000_000}
}

// Decode reads exactly one JSON value under the default limits. The error is
// an [*Error].
func Decode(data []byte) (any, error) {
	return Defaults().Decode(data)
}

// Decode reads exactly one JSON value; only blanks may stand around it. The
// error is an [*Error].
func (l Limits) Decode(data []byte) (any, error) {
	return l.DecodeString(string(data))
}

// DecodeString is Decode for a text; strings in the value share its memory.
func (l Limits) DecodeString(text string) (any, error) {
	r := reader{text: text, limits: l}
	r.skipBlanks()
	value, err := r.value()
	if err != nil {
		return nil, err
	}
	r.skipBlanks()
	if r.pos < len(text) {
		return nil, r.fail(TrailingData, r.pos, "%q after the value", text[r.pos])
	}
	return value, nil
}

// Prefix reads one JSON value at the start of the text (blanks may precede
// it) and returns the offset of the first byte after it. What follows is not
// looked at. The error is an [*Error].
func (l Limits) Prefix(text string) (value any, end int, err error) {
	r := reader{text: text, limits: l}
	r.skipBlanks()
	value, failure := r.value()
	if failure != nil {
		return nil, r.pos, failure
	}
	return value, r.pos, nil
}

// Member is one key of an object and its value, with the span text[Start:End]
// of the value.
type Member struct {
	Key        string
	Value      any
	Start, End int
}

// Object reads one JSON object at the start of the text (blanks may precede
// it), keeps the order of its members, and returns the offset after it. The
// error is an [*Error].
func (l Limits) Object(text string) (members []Member, end int, err error) {
	return l.AppendObject(nil, text, nil)
}

// AppendObject is Object with the members appended to a list, and with objects
// among the values taken from the spare ones, if there are any.
func (l Limits) AppendObject(list []Member, text string, spare *Spare) (members []Member, end int, err error) {
	r := reader{text: text, limits: l, spare: spare}
	members, failure := r.topObject(list)
	if failure != nil {
		return nil, r.pos, failure
	}
	return members, r.pos, nil
}

// Kind names what is wrong with a text, in the words of the defects that a
// grader reports.
type Kind string

// The kinds of error.
const (
	UnexpectedEnd    Kind = "unexpected_end"        // the text stops inside a list, object, number or word
	Unterminated     Kind = "unterminated_string"   // the text stops inside a string
	Unexpected       Kind = "unexpected_character"  // no value can go on like this
	TrailingData     Kind = "trailing_data"         // something follows the value
	DuplicateKey     Kind = "duplicate_key"         // an object names a key twice
	NonFinite        Kind = "non_finite_number"     // NaN, Infinity
	LoneSurrogate    Kind = "lone_surrogate"        // half of a \u pair
	InvalidUTF8      Kind = "invalid_utf8"          // bytes that are no text
	ControlCharacter Kind = "raw_control_character" // an unescaped newline, for instance
	BadEscape        Kind = "bad_escape"            // \x, \d, \u12
	BadNumber        Kind = "bad_number"            // 01, 1., +1
	TrailingComma    Kind = "trailing_comma"        // [1,]
	PythonLiteral    Kind = "python_literal"        // True, None, 'text'
	UnescapedQuote   Kind = "unescaped_quote"       // "He said "yes""
	TooDeep          Kind = "too_deep"              // Limits.Depth
	TooLarge         Kind = "too_large"             // any other limit
)

// Error says what is wrong, and at which byte of the text.
type Error struct {
	Kind    Kind
	Offset  int // bytes from the start of the text
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Message, e.Offset)
}

func (r *reader) fail(kind Kind, at int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: at, Message: fmt.Sprintf(format, args...)}
}

// Cut reports whether the text stops where the value should go on.
func (e *Error) Cut() bool { return e.Kind == UnexpectedEnd || e.Kind == Unterminated }

// unexpected reports the byte at the position, or the end of the text.
func (r *reader) unexpected(want string) *Error {
	if r.pos >= len(r.text) {
		return r.fail(UnexpectedEnd, len(r.text), "the text ends where %s is due", want)
	}
	return r.fail(Unexpected, r.pos, "%q where %s is due", r.text[r.pos], want)
}

// keySet finds a key's second use: by comparison while there are few keys, as
// in nearly every object, and by a map from there.
type keySet struct {
	few  [8]string
	n    int
	many map[string]struct{}
}

// add reports whether the key is new.
func (s *keySet) add(key string) bool {
	if s.many != nil {
		before := len(s.many)
		s.many[key] = struct{}{}
		return len(s.many) > before
	}
	if slices.Contains(s.few[:s.n], key) {
		return false
	}
	if s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return true
	}
	s.many = map[string]struct{}{key: {}}
	for _, old := range s.few {
		s.many[old] = struct{}{}
	}
	return true
}

// Pointer writes a path of keys and indices as a JSON pointer (RFC 6901).
func Pointer(path ...string) string {
	var b strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, part := range path {
		b.WriteString("/" + escape.Replace(part))
	}
	return b.String()
}

// Path is the path that a JSON pointer names; Pointer(Path(p)...) is p. What
// stands before the pointer's first slash is left out.
func Path(pointer string) []string {
	path := strings.Split(pointer, "/")[1:]
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, part := range path {
		path[i] = unescape.Replace(part)
	}
	return path
}
