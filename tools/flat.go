package tools

import (
	"encoding/json"
	"slices"
	"strconv"
)

// A flat schema is an object of plain values, closed to others: what most tools
// declare. It is checked here without the general validator, which takes many
// times longer. Its word counts only when it accepts: whatever it does not know,
// or does not accept, is for the general validator to judge. A fuzz test
// shows that it accepts nothing which that refuses.
type flat struct {
	properties []flatProperty
}

type flatProperty struct {
	name     string
	required bool
	kind     string // string, boolean, number or integer
	enum     []string
	min, max *int64
}

// newFlat reads a schema as the validator was given it; nil where it is not
// flat.
func newFlat(schema any) *flat {
	object, _ := schema.(map[string]any)
	if object["type"] != "object" || object["additionalProperties"] != false ||
		!onlyKeys(object, "type", "properties", "required", "additionalProperties", "title", "description") {
		return nil
	}
	properties, _ := object["properties"].(map[string]any)
	f := &flat{}
	for _, name := range sortedKeys(properties) {
		p, ok := newFlatProperty(name, properties[name])
		if !ok {
			return nil
		}
		f.properties = append(f.properties, p)
	}
	required, _ := object["required"].([]any)
	for _, name := range required {
		p := f.property(name)
		if p == nil {
			return nil
		}
		p.required = true
	}
	return f
}

// property finds a property by name, which may be no text at all.
func (f *flat) property(name any) *flatProperty {
	for i := range f.properties {
		if any(f.properties[i].name) == name {
			return &f.properties[i]
		}
	}
	return nil
}

func newFlatProperty(name string, schema any) (p flatProperty, ok bool) {
	object, _ := schema.(map[string]any)
	p.name = name
	p.kind, _ = object["type"].(string)
	switch p.kind {
	case "boolean":
		return p, onlyKeys(object, "type", "title", "description", "default", "examples")
	case "string":
		p.enum, ok = texts(object["enum"])
		return p, ok && onlyKeys(object, "type", "title", "description", "default", "examples", "enum")
	case "number", "integer":
		var low, high bool
		p.min, low = bound(object["minimum"])
		p.max, high = bound(object["maximum"])
		return p, low && high && onlyKeys(object, "type", "title", "description", "default", "examples", "minimum", "maximum")
	}
	return p, false
}

func onlyKeys(object map[string]any, keys ...string) bool {
	known := 0
	for _, key := range keys {
		if _, ok := object[key]; ok {
			known++
		}
	}
	return known == len(object)
}

// texts reads a list of strings; nothing is no list.
func texts(value any) (list []string, ok bool) {
	if value == nil {
		return nil, true
	}
	items, _ := value.([]any)
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, len(list) > 0
}

// bound reads a whole number; nothing is no bound.
func bound(value any) (limit *int64, ok bool) {
	if value == nil {
		return nil, true
	}
	number, _ := value.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	return &n, err == nil
}

// accepts reports whether the value is valid for certain.
func (f *flat) accepts(value any) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return false
	}
	found := 0
	for i := range f.properties {
		p := &f.properties[i]
		v, ok := object[p.name]
		switch {
		case ok && p.accepts(v):
			found++
		case ok || p.required:
			return false
		}
	}
	return found == len(object) // nothing else is there
}

func (p *flatProperty) accepts(value any) bool {
	switch v := value.(type) {
	case bool:
		return p.kind == "boolean"
	case string:
		return p.kind == "string" && p.admits(v)
	case json.Number:
		return p.acceptsNumber(string(v))
	}
	return false
}

func (p *flatProperty) admits(text string) bool {
	return p.enum == nil || slices.Contains(p.enum, text)
}

// acceptsNumber takes numbers in plain digits: whole ones of up to 18 digits
// anywhere, decimal ones where there is no bound.
func (p *flatProperty) acceptsNumber(text string) bool {
	if p.kind != "number" && p.kind != "integer" || len(text) > 18 {
		return false
	}
	if p.kind == "number" && p.min == nil && p.max == nil {
		return plainDecimal(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && (p.min == nil || *p.min <= n) && (p.max == nil || n <= *p.max)
}

// plainDecimal reports whether a JSON number has no exponent.
func plainDecimal(text string) bool {
	for i := range len(text) {
		if text[i] == 'e' || text[i] == 'E' {
			return false
		}
	}
	return true
}
