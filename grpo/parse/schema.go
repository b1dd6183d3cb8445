package parse

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// declared is a tool that was declared to the model, with what its schema says
// about single arguments. That part is worked out when it is first needed.
type declared struct {
	tool tools.Tool

	once       sync.Once
	root       any            // the decoded schema
	properties map[string]any // the arguments that it names
	patterns   map[string]*regexp.Regexp
	kindOf     sync.Map // the kinds of the properties that were asked for, by name
	free       bool     // any key is welcome
	closed     bool     // valid arguments have no keys but those
}

// maxVisits bounds how many subschemas are looked at for one question, and so
// how far references and combinations are followed: they may form a circle.
const maxVisits = 500

func (d *declared) resolve() {
	d.once.Do(func() {
		root, err := strictjson.Decode(d.tool.Parameters)
		if err != nil {
			d.free = true // the compiler is more lenient; nothing is said about keys then
			return
		}
		d.root, d.properties, d.patterns = root, map[string]any{}, map[string]*regexp.Regexp{}
		visits := maxVisits
		d.collect(root, &visits)
		if len(d.properties) == 0 && len(d.patterns) == 0 && !isClosed(root) {
			d.free = true
		}
		object, _ := root.(map[string]any)
		_, refers := object["$ref"] // old drafts pass over what stands beside it
		d.closed = object["additionalProperties"] == false && !refers
	})
}

// collect gathers the arguments that a schema names, through local references
// and combinations.
func (d *declared) collect(schema any, visits *int) {
	object, ok := schema.(map[string]any)
	if *visits--; !ok || *visits < 0 {
		return
	}
	if properties, ok := object["properties"].(map[string]any); ok {
		for key, property := range properties {
			if _, twice := d.properties[key]; !twice {
				d.properties[key] = property
			}
		}
	}
	if patterns, ok := object["patternProperties"].(map[string]any); ok {
		for pattern := range patterns {
			if d.patterns[pattern] != nil {
				continue // the same branch may be come to many times
			}
			compiled, err := regexp.Compile(pattern)
			if err != nil {
				d.free = true
				continue
			}
			d.patterns[pattern] = compiled
		}
	}
	switch open := object["additionalProperties"].(type) {
	case bool:
		d.free = d.free || open
	case map[string]any:
		d.free = true
	}
	if target, ok := d.reference(object); ok {
		d.collect(target, visits)
	}
	for _, keyword := range [...]string{"allOf", "anyOf", "oneOf"} {
		branches, _ := object[keyword].([]any)
		for _, branch := range branches {
			d.collect(branch, visits)
		}
	}
}

func isClosed(schema any) bool {
	object, _ := schema.(map[string]any)
	return object["additionalProperties"] == false || object["unevaluatedProperties"] == false
}

// unknownArguments lists the keys that the schema does not name, whether it
// forbids them or not.
func (d *declared) unknownArguments(value map[string]any, valid bool) (unknown []string) {
	d.resolve()
	if d.free || d.closed && valid {
		return nil
	}
	for key := range value {
		if _, ok := d.properties[key]; !ok && !d.matchesPattern(key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return unknown
}

func (d *declared) matchesPattern(key string) bool {
	for _, p := range d.patterns {
		if p.MatchString(key) {
			return true
		}
	}
	return false
}

// reference follows a local $ref, "#/…". Nothing else is followed and nothing
// is fetched.
func (d *declared) reference(schema map[string]any) (any, bool) {
	path, ok := schema["$ref"].(string)
	if !ok || !strings.HasPrefix(path, "#") {
		return nil, false
	}
	at := d.root
	for _, key := range strictjson.Path(path[1:]) {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = object[key]; !ok {
			return nil, false
		}
	}
	return at, true
}

// kinds is a set of JSON types.
type kinds uint8

const (
	kindString kinds = 1 << iota
	kindInteger
	kindNumber
	kindBoolean
	kindNull
	kindArray
	kindObject
	kindAny = kindString | kindInteger | kindNumber | kindBoolean | kindNull | kindArray | kindObject
)

func kindOfName(name string) kinds {
	switch name {
	case "string":
		return kindString
	case "integer":
		return kindInteger
	case "number":
		return kindNumber
	case "boolean":
		return kindBoolean
	case "null":
		return kindNull
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return 0
}

// kindsOf returns the types that the schema of an argument admits; an argument
// that the tool does not name admits all of them.
func (d *declared) kindsOf(argument string) kinds {
	d.resolve()
	property, ok := d.properties[argument]
	if !ok {
		return kindAny
	}
	if known, ok := d.kindOf.Load(argument); ok {
		return known.(kinds)
	}
	visits := maxVisits
	found := d.kinds(property, &visits)
	d.kindOf.Store(argument, found) // at most one for each property
	return found
}

func (d *declared) kinds(schema any, visits *int) kinds {
	object, ok := schema.(map[string]any)
	if *visits--; !ok || *visits < 0 {
		return kindAny
	}
	admitted := kindAny
	switch t := object["type"].(type) {
	case string:
		admitted = kindOfName(t)
	case []any:
		admitted = 0
		for _, name := range t {
			text, _ := name.(string)
			admitted |= kindOfName(text)
		}
	}
	if values, ok := object["enum"].([]any); ok {
		admitted &= kindsOfValues(values)
	}
	if value, ok := object["const"]; ok {
		admitted &= kindOfValue(value)
	}
	if target, ok := d.reference(object); ok {
		admitted &= d.kinds(target, visits)
	}
	for _, keyword := range [...]string{"anyOf", "oneOf"} {
		if branches, ok := object[keyword].([]any); ok {
			admitted &= d.union(branches, visits)
		}
	}
	branches, _ := object["allOf"].([]any)
	for _, branch := range branches {
		admitted &= d.kinds(branch, visits)
	}
	return admitted
}

func (d *declared) union(branches []any, visits *int) (admitted kinds) {
	for _, branch := range branches {
		admitted |= d.kinds(branch, visits)
	}
	return admitted
}

func kindsOfValues(values []any) (set kinds) {
	for _, value := range values {
		set |= kindOfValue(value)
	}
	return set
}
