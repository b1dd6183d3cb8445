package strictjson

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// number reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? and leaves the
// digits as they are.
func (r *reader) number() (string, *Error) {
	start := r.pos
	if r.peek() == '-' {
		r.pos++
	}
	if r.peek() == 'I' || r.peek() == 'N' {
		r.pos = start
		return "", r.fail(NonFinite, start, "a number that is not finite")
	}
	whole := r.digits()
	if whole == 0 || whole > 1 && r.text[r.pos-whole] == '0' {
		return r.badNumber(start)
	}
	if r.peek() == '.' {
		if r.pos++; r.digits() == 0 {
			return r.badNumber(start)
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		if err := r.exponent(start); err != nil {
			return "", err
		}
	}
	if r.mode&MendPython != 0 && r.peek() == '_' {
		r.pos = start
		return r.pythonNumber()
	}
	if r.pos-start > r.limits.Number {
		return "", r.fail(TooLarge, start, "a number of more than %d characters", r.limits.Number)
	}
	return r.text[start:r.pos], nil
}

// digits skips decimal digits and counts them.
func (r *reader) digits() int {
	start := r.pos
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.pos++
	}
	return r.pos - start
}

func (r *reader) exponent(start int) *Error {
	r.pos++
	if c := r.peek(); c == '+' || c == '-' {
		r.pos++
	}
	count := r.digits()
	if count == 0 {
		_, err := r.badNumber(start)
		return err
	}
	power := strings.TrimLeft(r.text[r.pos-count:r.pos], "0")
	if n, err := strconv.Atoi(power); power != "" && (err != nil || n > r.limits.Exponent) {
		return r.fail(TooLarge, start, "a number with an exponent beyond %d", r.limits.Exponent)
	}
	return nil
}

// badNumber reports digits in no JSON form, or a number that the text cuts.
func (r *reader) badNumber(start int) (string, *Error) {
	if cut := r.text[start:r.pos]; r.pos >= len(r.text) && cut == strings.TrimRight(cut, "0123456789") {
		return "", r.fail(UnexpectedEnd, len(r.text), "the text ends inside a number")
	}
	if r.mode&MendPython != 0 {
		r.pos = start
		return r.pythonNumber()
	}
	return "", r.fail(BadNumber, start, "a number in no JSON form")
}

// decimal is (-1)^negative × 0.digits × 10^power; digits has no zeros at its
// ends and is empty for zero.
type decimal struct {
	negative bool
	digits   string
	power    int64
}

// parseDecimal takes a number apart without computing it; ok is false when it
// is none, or when its exponent does not even fit 32 bits.
func parseDecimal(n json.Number) (d decimal, ok bool) {
	r := reader{text: string(n), limits: Limits{Number: len(n), Exponent: 1<<31 - 1}}
	if text, err := r.number(); err != nil || text != string(n) {
		return decimal{}, false
	}
	text := string(n)
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		power, err := strconv.ParseInt(text[i+1:], 10, 64)
		if err != nil {
			return decimal{}, false
		}
		text, d.power = text[:i], power
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.power += int64(len(whole))
	d.digits = strings.TrimRight(whole+fraction, "0")
	trimmed := strings.TrimLeft(d.digits, "0")
	d.power -= int64(len(d.digits) - len(trimmed))
	if d.digits = trimmed; d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

// IsInteger reports whether a number is an integer by value, whatever its
// spelling: 120.0, 1e3 and -0 are, 1.5 is not.
func IsInteger(n json.Number) bool {
	d, ok := parseDecimal(n)
	return ok && d.power >= int64(len(d.digits))
}

// Integer returns the exact value of an integer, whatever its spelling; ok is
// false for anything else and for integers of more than 10,000 digits.
func Integer(n json.Number) (value *big.Int, ok bool) {
	d, ok := parseDecimal(n)
	if !ok || d.power < int64(len(d.digits)) || d.power > 10_000 {
		return nil, false
	}
	if d.digits == "" {
		return new(big.Int), true
	}
	zeros := strings.Repeat("0", int(d.power)-len(d.digits))
	value, ok = new(big.Int).SetString(d.digits+zeros, 10)
	if ok && d.negative {
		value.Neg(value)
	}
	return value, ok
}

// Equal reports whether two decoded values are the same JSON value: numbers
// by value (1, 1.0 and 10e-1 are equal, "1" and 1 are not), objects without
// regard to order. Values of other Go types are never equal.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		other, ok := b.(bool)
		return ok && a == other
	case string:
		other, ok := b.(string)
		return ok && a == other
	case json.Number:
		other, ok := b.(json.Number)
		return ok && equalNumbers(a, other)
	case []any:
		other, ok := b.([]any)
		return ok && equalLists(a, other)
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && equalObjects(a, other)
	}
	return false
}

func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	if isPlain(a) && isPlain(b) {
		return false
	}
	x, ok := parseDecimal(a)
	if !ok {
		return false
	}
	y, ok := parseDecimal(b)
	return ok && x == y
}

// isPlain reports whether no other number is spelt in digits like this one: it
// is a whole number without an exponent, and not −0.
func isPlain(n json.Number) bool {
	for i := range len(n) {
		if c := n[i]; (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return n != "-0"
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		if other, ok := b[key]; !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}
