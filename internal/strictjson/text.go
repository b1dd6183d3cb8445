package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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
