package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"toolgym/internal/strictjson"
)

// mostDepth is how deep optional parts are drawn, in schemas that refer to
// themselves.
const mostDepth = 4

// mostParts bounds a draw: values, and pieces of texts of partBytes. A schema may
// ask for a billion of either in a few bytes.
const (
	mostParts = 20_000
	partBytes = 16
)

// errLarge is the error for a draw that would have more than mostParts.
var errLarge = errors.New("the arguments are too large")

// arguments draws an object of the schema. The error is errLarge, or that the
// schema is no JSON.
func (a *random) arguments(parameters json.RawMessage) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(parameters))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("decoding the schema: %w", err)
	}
	s := &sampler{draw: a.draw, root: root, left: mostParts}
	value := s.value(root, 0)
	if s.left < 0 {
		return nil, errLarge
	}
	return json.Marshal(value) // maps are written in the order of their keys
}

// A sampler draws values of a schema. It follows the keywords that tools use
// and passes over the others: who needs certainty validates what it draws.
type sampler struct {
	draw *rand.Rand
	root any
	left int // parts; below 0 the draw is given up
}

func (s *sampler) below(n int) int { return int(s.draw.Uint32N(uint32(n))) }

func (s *sampler) value(schema any, depth int) any {
	m, ok := schema.(map[string]any)
	if s.left--; !ok || s.left < 0 || depth > 4*mostDepth {
		return nil
	}
	if reference, ok := m["$ref"].(string); ok {
		return s.value(s.resolve(reference), depth+1)
	}
	if constant, ok := m["const"]; ok {
		return constant
	}
	for _, keyword := range []string{"enum", "anyOf", "oneOf", "allOf"} {
		options, ok := m[keyword].([]any)
		if !ok || len(options) == 0 {
			continue
		}
		chosen := options[s.below(len(options))]
		if keyword == "enum" {
			return chosen
		}
		return s.value(chosen, depth+1)
	}
	return s.typed(m, depth)
}

func (s *sampler) typed(m map[string]any, depth int) any {
	switch s.typeOf(m) {
	case "object":
		return s.object(m, depth)
	case "array":
		return s.array(m, depth)
	case "string":
		return s.text(m)
	case "integer", "number":
		return s.number(m)
	case "boolean":
		return s.below(2) == 1
	}
	return nil
}

// typeOf is the declared type, one of them where there are several, or what
// the other keywords suggest.
func (s *sampler) typeOf(m map[string]any) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[s.below(len(t))].(string)
			return name
		}
	}
	if _, ok := m["properties"]; ok {
		return "object"
	}
	return "string"
}

// object draws the required properties, and half of the others.
func (s *sampler) object(m map[string]any, depth int) any {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(key)) || depth < mostDepth && s.below(2) == 1 {
			out[key] = s.value(properties[key], depth+1)
		}
	}
	for _, name := range required {
		key, ok := name.(string)
		if _, declared := properties[key]; ok && !declared {
			out[key] = s.undeclared(m, depth)
		}
	}
	return out
}

// undeclared draws a required value that properties says nothing of.
func (s *sampler) undeclared(m map[string]any, depth int) any {
	if schema, ok := m["additionalProperties"].(map[string]any); ok {
		return s.value(schema, depth+1)
	}
	return s.text(nil)
}

func (s *sampler) array(m map[string]any, depth int) any {
	least := whole(m["minItems"], 0)
	most := max(least, min(whole(m["maxItems"], least+3), least+3))
	if depth >= mostDepth {
		most = least
	}
	out := []any{}
	for range least + s.below(most-least+1) {
		if s.left < 0 {
			break
		}
		out = append(out, s.value(m["items"], depth+1))
	}
	return out
}

func (s *sampler) text(m map[string]any) string {
	if pattern, ok := m["pattern"].(string); ok {
		if text, ok := s.matching(pattern); ok {
			return text
		}
	}
	least := max(1, whole(m["minLength"], 0))
	most := max(least, min(whole(m["maxLength"], least+7), least+7))
	length := least + s.below(most-least+1)
	if s.left -= length / partBytes; s.left < 0 {
		return ""
	}
	var b strings.Builder
	for range length {
		b.WriteByte(byte('a' + s.below(26)))
	}
	return b.String()
}

// number draws a whole number within the bounds, small where there are none.
func (s *sampler) number(m map[string]any) int {
	least, most := whole(m["minimum"], -100), whole(m["maximum"], 100)
	if _, ok := m["exclusiveMinimum"]; ok {
		least = whole(m["exclusiveMinimum"], least-1) + 1
	}
	if _, ok := m["exclusiveMaximum"]; ok {
		most = whole(m["exclusiveMaximum"], most+1) - 1
	}
	if _, ok := m["minimum"]; ok && most < least {
		most = least + 100
	}
	least = min(least, most)
	step := max(1, whole(m["multipleOf"], 1))
	return (least + s.below(min(most-least, 1<<30)+1)) / step * step
}

// whole reads a whole number of a schema, or returns what stands for it.
func whole(v any, otherwise int) int {
	n, ok := v.(json.Number)
	if !ok {
		return otherwise
	}
	f, err := n.Float64()
	if err != nil || f < -1<<30 || f > 1<<30 {
		return otherwise
	}
	return int(f)
}

// resolve follows a reference within the schema, like #/$defs/node.
func (s *sampler) resolve(reference string) any {
	at := s.root
	for _, key := range strictjson.Path(strings.TrimPrefix(reference, "#")) {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}
