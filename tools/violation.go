package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolgym/internal/strictjson"
)

// A Violation is one way in which arguments break their schema.
type Violation struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments; "" is the whole
	Keyword string `json:"keyword"` // the schema keyword that is broken, "json", "number" or "steps"
	Message string `json:"message"`
}

// largestNumber bounds the digits and the exponent of a number, so that
// 1e999999999 costs nothing to refuse.
const largestNumber = 1000

// maxViolations bounds how many violations are reported: alternatives multiply
// them.
const maxViolations = 100

// violations checks a decoded value; the order is by pointer, keyword and
// message, since the validator's own is that of a map. Of more than
// maxViolations it returns the first in that order. The steps that it takes are
// taken from left, unless that is nil; the error says that there were too few, or
// is the context's.
func (s *schema) violations(ctx context.Context, value any, left *int) ([]Violation, error) {
	if s.flat != nil && s.flat.accepts(value) {
		return nil, nil
	}
	if !allHoldable(value) {
		v, _ := outsized(value, "")
		return []Violation{v}, nil
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	if left != nil {
		if err := s.graph.charge(ctx, value, left); err != nil {
			return nil, err
		}
	}
	err := s.compiled.Validate(value)
	if err == nil {
		return nil, nil
	}
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []Violation{{Keyword: "schema", Message: clipMessage(err.Error())}}, nil
	}
	return leaves(broken, maxViolations), nil
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
