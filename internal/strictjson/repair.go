package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mends is a set of misspellings that leave no doubt about what was meant.
type Mends uint8

// The misspellings that can be mended.
const (
	MendComma     Mends = 1 << iota // a comma before a closing bracket
	MendControl                     // a raw control character in a string
	MendSurrogate                   // a lone surrogate, read as U+FFFD
	MendPython                      // 'text', True, False, None, Python's numbers

	pythonEscapes // Python's escapes in strings; they are no mend without MendPython
)

// Kinds names the mends in a fixed order.
func (m Mends) Kinds() []Kind {
	var kinds []Kind
	for _, mend := range [...]struct {
		bit  Mends
		kind Kind
	}{{MendComma, TrailingComma}, {MendControl, ControlCharacter}, {MendSurrogate, LoneSurrogate}, {MendPython, PythonLiteral}} {
		if m&mend.bit != 0 {
			kinds = append(kinds, mend.kind)
		}
	}
	return kinds
}

const jsonMends = MendComma | MendControl | MendSurrogate

// Mend reads one object at the start of the text like [Limits.Object], accepts
// the misspellings of [Mends], and says which it met. The values are those
// that were meant; the spans are those of the text as it stands. The error is
// the [*Error] of the reading that came furthest, and end is how far any reading
// looked.
func (l Limits) Mend(text string) (members []Member, end int, mends Mends, err error) {
	r := reader{text: text, limits: l, mode: jsonMends}
	members, failure := r.topObject(nil)
	if failure == nil {
		return members, r.pos, r.mends, nil
	}
	p := reader{text: text, limits: l, mode: jsonMends | MendPython | pythonEscapes}
	members, python := p.topObject(nil)
	switch {
	case python == nil && p.mends&MendPython != 0:
		return members, p.pos, p.mends &^ pythonEscapes, nil
	case python != nil && python.Offset > failure.Offset:
		failure = python
	}
	return nil, max(r.pos, p.pos), 0, failure
}

// Literal reads one Python or JSON literal at the start of the text (blanks may
// precede it), where Python's spelling is native: both quotes, Python's escapes,
// True, False and None beside true, false and null, .5 and 1_000. The mends say
// what else was accepted; MendPython is in them when the text is no JSON.
func (l Limits) Literal(text string) (value any, end int, mends Mends, err error) {
	r := reader{text: text, limits: l, mode: jsonMends | MendPython | pythonEscapes}
	r.skipBlanks()
	value, failure := r.value()
	if failure != nil {
		return nil, r.pos, 0, failure
	}
	if r.mends&pythonEscapes != 0 {
		r.mends = r.mends&^pythonEscapes | MendPython
	}
	return value, r.pos, r.mends, nil
}

// word reads true, false and null, and in Python's mode True, False, None and
// strings in single quotes.
func (r *reader) word() (any, *Error) {
	if r.peek() == '\'' {
		if r.mode&MendPython == 0 {
			return nil, r.fail(PythonLiteral, r.pos, "a string in single quotes")
		}
		return boxed(r.str())
	}
	start := r.pos
	for c := r.peek(); isWordByte(c); c = r.peek() {
		r.pos++
	}
	switch word := r.text[start:r.pos]; word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil
	case "True", "False", "None":
		return r.pythonWord(word, start)
	case "NaN", "nan", "Infinity", "inf":
		r.pos = start
		return nil, r.fail(NonFinite, start, "a number that is not finite")
	default:
		return nil, r.unknownWord(word, start)
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (r *reader) pythonWord(word string, start int) (any, *Error) {
	if r.mode&MendPython == 0 {
		r.pos = start
		return nil, r.fail(PythonLiteral, start, "Python's %s", word)
	}
	r.mends |= MendPython
	if word == "None" {
		return nil, nil
	}
	return word == "True", nil
}

// unknownWord reports a word that is no literal; one that the text cuts may
// have been going to be one.
func (r *reader) unknownWord(word string, start int) *Error {
	if r.pos == len(r.text) {
		for _, whole := range [...]string{"true", "false", "null", "True", "False", "None"} {
			if strings.HasPrefix(whole, word) {
				return r.fail(UnexpectedEnd, len(r.text), "the text ends inside a literal")
			}
		}
	}
	r.pos = start
	return r.unexpected("a value")
}

// pythonNumber reads .5, 5., +5, 007.5 and 1_000 and spells them as JSON does.
func (r *reader) pythonNumber() (string, *Error) {
	start := r.pos
	for c := r.peek(); isWordByte(c) || c == '.' || c == '+' || c == '-'; c = r.peek() {
		if (c == '+' || c == '-') && r.pos > start && r.text[r.pos-1]|0x20 != 'e' {
			break
		}
		r.pos++
	}
	text := strings.TrimPrefix(r.text[start:r.pos], "+")
	if spelt, ok := jsonNumber(text); ok && len(spelt) <= r.limits.Number {
		number := reader{text: spelt, limits: r.limits}
		if value, err := number.number(); err == nil && value == spelt {
			r.mends |= MendPython
			return value, nil
		}
	}
	return "", r.fail(BadNumber, start, "a number in no form of JSON or Python")
}

// jsonNumber completes a bare point and drops single underscores between
// digits; leading zeros stay, as Python refuses them too.
func jsonNumber(text string) (string, bool) {
	if strings.Contains(text, "__") || strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") ||
		strings.Contains(text, "_.") || strings.Contains(text, "._") {
		return "", false
	}
	text = strings.ReplaceAll(text, "_", "")
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i:]
	}
	if strings.HasPrefix(mantissa, ".") {
		mantissa = "0" + mantissa
	}
	if trimmed, ok := strings.CutSuffix(mantissa, "."); ok && mantissa != "0." {
		mantissa = trimmed + ".0"
	}
	if negative {
		mantissa = "-" + mantissa
	}
	return mantissa + exponent, true
}

// pythonEscape reads an escape that JSON lacks; Python keeps the backslash of
// an unknown one.
func (r *reader) pythonEscape(b *strings.Builder, c byte) *Error {
	r.mends |= pythonEscapes
	digits := map[byte]int{'x': 2, 'U': 8}[c]
	switch {
	case digits > 0:
		return r.hexEscape(b, digits)
	case c == '\'':
		b.WriteByte(c)
	case c == '\n':
	case c == 'a':
		b.WriteByte('\a')
	case c == 'v':
		b.WriteByte('\v')
	case c < ' ' || c >= '0' && c <= '7':
		return r.fail(BadEscape, r.pos, `the escape \%c`, c)
	default:
		b.WriteByte('\\')
		r.pos++
		return nil
	}
	r.pos += 2
	return nil
}

func (r *reader) hexEscape(b *strings.Builder, digits int) *Error {
	end := r.pos + 2 + digits
	if end > len(r.text) {
		return r.fail(Unterminated, len(r.text), "the text ends inside an escape")
	}
	code, err := strconv.ParseUint(r.text[r.pos+2:end], 16, 32)
	if err != nil || !utf8.ValidRune(rune(code)) {
		return r.fail(BadEscape, r.pos, "an escape without %d hexadecimal digits", digits)
	}
	b.WriteRune(rune(code))
	r.pos = end
	return nil
}
