package match

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// A Matcher loosens how one argument is compared. The zero Matcher compares
// exactly. Any stands alone; OneOf and Set exclude each other; Tolerance and
// Casefold say how the numbers and the strings within are compared.
type Matcher struct {
	Tolerance json.Number       `json:"tolerance,omitempty"` // largest difference of numbers, exact; "" is 0
	Any       bool              `json:"any,omitempty"`       // every value is right; present where the expected call has it
	OneOf     []json.RawMessage `json:"one_of,omitempty"`    // further right values beside the call's own
	Casefold  bool              `json:"casefold,omitempty"`  // strings by Unicode's simple folding
	Set       bool              `json:"set,omitempty"`       // arrays without regard to order and repetition
	Optional  bool              `json:"optional,omitempty"`  // its absence is right as well
}

// maxMembers bounds the arrays that are compared as sets.
const maxMembers = 4096

func (m Matcher) check() error {
	if m.Any && (m.Tolerance != "" || m.OneOf != nil || m.Casefold || m.Set) {
		return refusal.New("/any", "any alone", "any and a further condition")
	}
	if m.OneOf != nil && m.Set {
		return refusal.New("/set", "either set or one_of", "both set and one_of")
	}
	if m.OneOf != nil && (len(m.OneOf) == 0 || len(m.OneOf) > maxExpected) {
		return refusal.New("/one_of", "between 1 and "+strconv.Itoa(maxExpected)+" values", "%d values", len(m.OneOf))
	}
	if m.Tolerance == "" {
		return nil
	}
	if r, ok := rational(m.Tolerance); !ok || r.Sign() < 0 {
		return refusal.New("/tolerance", "a number, at least 0", "%q", string(m.Tolerance))
	}
	return nil
}

// equal compares a wanted value with one that was given. Nothing is equal once the
// work is over.
func (m Matcher) equal(w *work, want, have any) bool {
	if m.Tolerance == "" && !m.Casefold && !m.Set {
		return w.take(sizeOf(want)) && strictjson.Equal(want, have)
	}
	if m.Set {
		these, ok := want.([]any)
		those, also := have.([]any)
		if ok && also {
			return m.equalSets(w, these, those)
		}
	}
	return m.loose(w, want, have)
}

// loose compares values leaf by leaf, members of objects by their names.
func (m Matcher) loose(w *work, want, have any) bool {
	if !w.take(1) {
		return false
	}
	switch want := want.(type) {
	case json.Number:
		have, ok := have.(json.Number)
		return ok && m.near(w, want, have)
	case string:
		have, ok := have.(string)
		return ok && w.take(len(want)/64) && (want == have || m.Casefold && strings.EqualFold(want, have))
	case []any:
		have, ok := have.([]any)
		if !ok || len(want) != len(have) {
			return false
		}
		for i := range want {
			if !m.loose(w, want[i], have[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok || len(want) != len(have) {
			return false
		}
		for _, key := range slices.Sorted(maps.Keys(want)) { // the work depends on the order
			if other, ok := have[key]; !ok || !m.loose(w, want[key], other) {
				return false
			}
		}
		return true
	}
	return strictjson.Equal(want, have)
}

// near reports whether two numbers differ by at most the tolerance, exactly.
func (m Matcher) near(w *work, want, have json.Number) bool {
	if strictjson.Equal(want, have) {
		return true
	}
	if m.Tolerance == "" || !w.take(tolerant(want, have, m.Tolerance)) {
		return false
	}
	t, ok := rational(m.Tolerance)
	wanted, ok2 := rational(want)
	h, ok3 := rational(have)
	if !ok || !ok2 || !ok3 {
		return false
	}
	return wanted.Sub(wanted, h).Abs(wanted).Cmp(t) <= 0
}

// equalSets compares arrays as sets. Longer ones than maxMembers are never
// equal, which bounds the work of comparing all pairs.
func (m Matcher) equalSets(w *work, want, have []any) bool {
	if len(want) > maxMembers || len(have) > maxMembers {
		return false
	}
	return m.within(w, want, have) && m.within(w, have, want)
}

// within reports whether each of a is among b.
func (m Matcher) within(w *work, a, b []any) bool {
	for _, x := range a {
		found := false
		for _, y := range b {
			if found = m.loose(w, x, y); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// maxExponent and maxDigits bound the numbers that are held exactly, so that
// 1e999999999 costs nothing.
const (
	maxExponent = 1000
	maxDigits   = 1000
)

// rational is the exact value of a JSON number within the bounds.
func rational(n json.Number) (*big.Rat, bool) {
	mantissa, exponent, found := strings.Cut(strings.ToLower(string(n)), "e")
	if len(mantissa) > maxDigits {
		return nil, false
	}
	if found {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(string(n))
}
