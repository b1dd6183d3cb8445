package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"toolgym/internal/strictjson"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A Violation is one way in which arguments break their schema.
type Violation struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments; "" is the whole
	Keyword string `json:"keyword"` // the schema keyword that is broken, or "json"
	Message string `json:"message"`
}

// largestNumber bounds the digits and the exponent of a number, so that
// 1e999999999 costs nothing to refuse.
const largestNumber = 1000

// violations checks a decoded value; the order is by pointer, keyword and
// message, since the validator's own is that of a map.
func (s *schema) violations(value any) []Violation {
	if s.flat != nil && s.flat.accepts(value) {
		return nil
	}
	if !allHoldable(value) {
		v, _ := outsized(value, "")
		return []Violation{v}
	}
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []Violation{{Keyword: "schema", Message: err.Error()}}
	}
	var out []Violation
	leaves(broken, message.NewPrinter(language.English), &out)
	slices.SortFunc(out, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Message, b.Message))
	})
	return out
}

// leaves collects the violations that have no causes of their own.
func leaves(e *jsonschema.ValidationError, p *message.Printer, out *[]Violation) {
	if len(e.Causes) == 0 {
		keyword := "schema"
		if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(extra.Properties) // they come in a map's order
		}
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			keyword = path[0] // a property that depends on another comes second
		}
		text, ok := outside(e.ErrorKind)
		if !ok {
			text = e.ErrorKind.LocalizedString(p)
		}
		*out = append(*out, Violation{strictjson.Pointer(e.InstanceLocation...), keyword, text})
		return
	}
	for _, cause := range e.Causes {
		leaves(cause, p, out)
	}
}

// allHoldable reports whether outsized would find nothing, and costs nothing:
// it is asked on every call, and the place is wanted hardly ever.
func allHoldable(value any) bool {
	switch v := value.(type) {
	case json.Number:
		return holdable(string(v))
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !allHoldable(item) })
	case map[string]any:
		for _, item := range v {
			if !allHoldable(item) {
				return false
			}
		}
	}
	return true
}

// outsized finds a number whose exact value would be too large to hold.
func outsized(value any, at string) (Violation, bool) {
	switch v := value.(type) {
	case json.Number:
		if !holdable(string(v)) {
			return Violation{at, "number", fmt.Sprintf("a number takes at most %d digits and an exponent within ±%d", largestNumber, largestNumber)}, true
		}
	case []any:
		for i, item := range v {
			if bad, ok := outsized(item, fmt.Sprintf("%s/%d", at, i)); ok {
				return bad, true
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if bad, ok := outsized(v[key], at+strictjson.Pointer(key)); ok {
				return bad, true
			}
		}
	}
	return Violation{}, false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// holdable reports whether a JSON number is within largestNumber.
func holdable(number string) bool {
	mantissa, exponent := number, ""
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa, exponent = number[:at], number[at+1:]
	}
	exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
	if len(exponent) > 4 || len(mantissa) > largestNumber {
		return false
	}
	n := 0
	for _, digit := range exponent {
		n = n*10 + int(digit-'0')
	}
	return n <= largestNumber
}

// explain says in one line, to the agent, what is wrong with its arguments.
func explain(tool string, violations []Violation) string {
	const most = 5
	lines := make([]string, 0, most)
	for i, v := range violations {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(violations)-most))
			break
		}
		at := v.Pointer
		if at == "" {
			at = "arguments"
		}
		lines = append(lines, at+": "+v.Message)
	}
	return "invalid arguments for " + tool + ": " + strings.Join(lines, "; ")
}
