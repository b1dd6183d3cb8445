package strictjson

import "fmt"

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
