package strictjson

import "encoding/json"

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
