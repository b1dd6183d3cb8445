package tools

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Steps are counted in about the time of one subschema that accepts a value,
// 0.3 µs; the divisors say how many of the lesser jobs take as long. They are
// powers of two, so that a sum is exact, and the same in any order.
const (
	namesPerStep   = 8   // names that are looked up
	bytesPerStep   = 512 // bytes that are copied
	programPerStep = 32  // instructions, times characters
	digitsPerStep  = 64  // digits of numbers that are computed
	chainPerStep   = 32  // schemas above that are asked whether this is a circle
	enumPerStep    = 32  // values that are compared
	uniquePerPart  = 10  // steps for a part of an array whose items must be unique
)

// own is how many steps a schema takes for a value, without those it refers to.
func (g *graph) own(n *node, value any) float64 {
	s := n.schema
	if s.Bool != nil {
		return 1
	}
	steps := 1 + float64(n.chain)/chainPerStep
	if s.Enum != nil {
		steps += comparing(value, s.Enum.Values)
	}
	if s.Const != nil {
		steps += comparing(value, []any{*s.Const})
	}
	switch v := value.(type) {
	case string:
		steps += float64(len(v)) / bytesPerStep
		if p, ok := s.Pattern.(*pattern); ok {
			steps += matching(p.program, len(v))
		}
		if s.Format != nil {
			steps += float64(len(v)) / 16
		}
	case json.Number:
		if s.Types != nil || s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil {
			steps += 1 + digitsOf(v)/digitsPerStep
		}
		if s.MultipleOf != nil {
			steps += 4 * digitsOf(v) / digitsPerStep * digitsOf(v) / digitsPerStep
		}
	case []any:
		if s.UniqueItems {
			steps += uniquePerPart * sizeOf(v)
		}
		if g.tracks {
			steps += float64(len(v))
		}
	case map[string]any:
		steps += float64(len(v)+len(s.Required)+dependents(s)) / namesPerStep
		if g.tracks {
			steps += float64(len(v))
		}
		if n.programs > 0 {
			for name := range v {
				steps += matching(n.programs, len(name))
			}
		}
	}
	return steps
}

func dependents(s *jsonschema.Schema) int {
	n := len(s.Dependencies) + len(s.DependentSchemas)
	for _, names := range s.DependentRequired {
		n += 1 + len(names)
	}
	for _, held := range s.Dependencies {
		if names, ok := held.([]string); ok {
			n += len(names)
		}
	}
	return n
}

func matching(program, length int) float64 {
	return float64(program) * float64(length+1) / programPerStep
}

// comparing is what it takes to look for a value among others.
func comparing(value any, among []any) float64 {
	switch value.(type) {
	case json.Number:
		return float64(len(among)) // each is written out and read again
	case []any, map[string]any:
		steps, own := float64(len(among))/enumPerStep, sizeOf(value)
		for _, other := range among {
			steps += min(own, sizeOf(other))
		}
		return steps
	}
	return float64(len(among)) / enumPerStep
}

// digitsOf bounds the digits of a number once it is written out; its exponent
// is within ±[largestNumber].
func digitsOf(n json.Number) float64 {
	if strings.ContainsAny(string(n), "eE") {
		return float64(len(n) + largestNumber)
	}
	return float64(len(n))
}

// sizeOf counts the parts of a value, long texts and numbers as several.
func sizeOf(value any) float64 {
	switch v := value.(type) {
	case string:
		return 1 + float64(len(v))/8
	case json.Number:
		return 2 + digitsOf(v)/8
	case []any:
		size := 1.0
		for _, item := range v {
			size += sizeOf(item)
		}
		return size
	case map[string]any:
		size := 1.0
		for name, item := range v {
			size += 1 + float64(len(name))/8 + sizeOf(item)
		}
		return size
	}
	return 1
}
