package grpo

import (
	"bytes"

	"toolgym/internal/refusal"
)

// byteOrderMark stands before the first line of some editors' files, and is no
// part of it (RFC 8259, section 8.1).
const byteOrderMark = "\ufeff"

// members calls f with each member of the JSON object that text is: its key as
// it is written, without the quotes, and the bytes of its value. It looks only
// for where the values end; whether they are JSON is for their readers to say.
//
// Before is a list that is known to be whole JSON, such as that of the line
// before, or empty: a value with the same bytes need not be walked through.
func members(text, before []byte, f func(key, value []byte) error) error {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if len(text) == 0 {
		return refusal.New("", "a JSON object", "the line is empty")
	}
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return refusal.New("", "a JSON object", "%q is no object", clip(string(text)))
	}
	rest := bytes.TrimSpace(text[1 : len(text)-1])
	for len(rest) > 0 {
		end := skipString(rest)
		if rest[0] != '"' || end < 0 {
			return refusal.New("", "a JSON object", "no key where one is due")
		}
		key := rest[1 : end-1]
		rest = bytes.TrimLeft(rest[end:], blanks)
		if len(rest) == 0 || rest[0] != ':' {
			return refusal.New("/"+clip(string(key)), "a colon and a value", "neither follows the key")
		}
		rest = bytes.TrimLeft(rest[1:], blanks)
		if end = len(before); !starts(rest, before) {
			end = skipValue(rest)
		}
		if err := f(key, bytes.TrimRight(rest[:end], blanks)); err != nil {
			return err
		}
		if rest = rest[end:]; len(rest) > 0 {
			if rest = bytes.TrimLeft(rest[1:], blanks); len(rest) == 0 { // after the comma
				return refusal.New("", "a JSON object", "a comma before its end")
			}
		}
	}
	return nil
}

// starts reports whether a list is the first value of the text, and a comma or
// nothing follows it.
func starts(text, list []byte) bool {
	n := len(list)
	return n > 0 && bytes.HasPrefix(text, list) && (len(text) == n || text[n] == ',')
}

const blanks = " \t\r\n"

// skipValue returns where the value at the start of the text ends: at the comma
// after it, or with the text.
func skipValue(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := skipString(text[i:])
			if end < 0 {
				return len(text)
			}
			i += end - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// skipString returns where the string at the start of the text ends, or −1.
func skipString(text []byte) int {
	for i := 1; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return -1
		}
		i += next
		if !escaped(text[:i]) {
			return i + 1
		}
	}
	return -1
}

// escaped reports whether what follows text is escaped by an odd number of
// backslashes.
func escaped(text []byte) bool {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
