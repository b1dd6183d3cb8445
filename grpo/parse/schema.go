package parse

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
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

// typed is an argument that was written as text between tags.
type typed struct {
	value   any
	text    []byte // the value as JSON
	defects []Defect
}

func kindOfValue(value any) kinds {
	switch v := value.(type) {
	case nil:
		return kindNull
	case string:
		return kindString
	case bool:
		return kindBoolean
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	case json.Number:
		if strictjson.IsInteger(v) {
			return kindInteger | kindNumber
		}
		return kindNumber
	}
	return kindAny
}

// typeValue reads the text of an argument as the schema types it. This is
// decoding, not leniency: the form itself carries no types. Where the schema
// admits a string, the text is that string; null is null only where the schema
// admits it; what cannot be read as an admitted type stays text, and the
// schema will say so.
func typeValue(raw string, admitted kinds, limits strictjson.Limits) typed {
	trimmed := strings.TrimSpace(raw)
	if trimmed == "null" && admitted&kindNull != 0 {
		return typed{nil, []byte("null"), nil}
	}
	if admitted&kindString != 0 {
		return asText(raw)
	}
	if admitted&kindBoolean != 0 {
		switch strings.ToLower(trimmed) {
		case "true":
			return typed{true, []byte("true"), nil}
		case "false":
			return typed{false, []byte("false"), nil}
		}
	}
	return typeLiteral(raw, trimmed, admitted, limits)
}

// typeLiteral reads numbers, lists and objects.
func typeLiteral(raw, trimmed string, admitted kinds, limits strictjson.Limits) typed {
	if admitted&kindInteger != 0 {
		admitted |= kindNumber // 3.5 is a number; that it is no integer is for the schema to say
	}
	if value, err := limits.DecodeString(trimmed); err == nil {
		if kindOfValue(value)&admitted != 0 {
			return typed{value, []byte(trimmed), nil}
		}
		return asText(raw)
	}
	if admitted&(kindArray|kindObject) == 0 {
		return asText(raw)
	}
	value, end, mends, err := limits.Literal(trimmed)
	if err != nil || end < len(trimmed) || kindOfValue(value)&admitted&(kindArray|kindObject) == 0 {
		return asText(raw)
	}
	return typed{value, strictjson.Append(nil, value), mendDefects(mends)}
}

func asText(raw string) typed {
	return typed{raw, strictjson.AppendString(nil, raw), nil}
}

// check compares an attempt that counts with the schema declared for exactly
// its name. Nothing is coerced: "5" is not 5. The error says that there are too
// few steps left, or is the context's; whether the arguments are valid is not known
// then.
func (r *Reader) check(ctx context.Context, a *Attempt, left *int) (err error) {
	valid := false
	a.SchemaValid = &valid
	d, ok := r.declared[a.Name]
	if !ok {
		a.Defects = with(a.Defects, DefectUnknownTool)
		return nil
	}
	if a.Violations, err = d.tool.ValidateWithin(ctx, left, a.Value); err != nil {
		a.SchemaValid = nil
		return err
	}
	valid = len(a.Violations) == 0
	for _, v := range a.Violations {
		if d := violationDefect(v.Keyword); d != DefectMissingRequired || !a.Has(DefectArgumentsMissing) {
			a.Defects = with(a.Defects, d)
		}
	}
	a.UnknownArguments = d.unknownArguments(a.Value, valid)
	if len(a.UnknownArguments) > 0 {
		a.Defects = with(a.Defects, DefectUnknownArgument)
	}
	if !valid && d.coercible(ctx, a.Value, a.Violations, left) {
		a.Coercible = true
		a.Defects = with(a.Defects, DefectCoercible)
	}
	return nil
}

func violationDefect(keyword string) Defect {
	switch keyword {
	case "type":
		return DefectTypeMismatch
	case "required", "dependentRequired":
		return DefectMissingRequired
	case "additionalProperties", "unevaluatedProperties":
		return DefectUnknownArgument
	}
	return DefectConstraint
}

// coercible reports whether the arguments would be valid if every value of the
// wrong type were written in the type that it plainly stands for: "5" for 5,
// "true" for true, and the other way round.
func (d *declared) coercible(ctx context.Context, value map[string]any, violations []tools.Violation, left *int) bool {
	const most = 64
	if len(violations) > most {
		return false
	}
	changed := copyValue(value)
	for _, v := range violations {
		if v.Keyword != "type" || !convertAt(changed, v.Pointer) {
			return false
		}
	}
	still, err := d.tool.ValidateWithin(ctx, left, changed)
	return err == nil && len(still) == 0
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyValue(item)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = copyValue(out[i])
		}
		return out
	}
	return value
}

// convertAt converts the scalar that a JSON pointer names.
func convertAt(value any, pointer string) bool {
	path := strictjson.Path(pointer)
	for i, key := range path {
		last := i == len(path)-1
		switch v := value.(type) {
		case map[string]any:
			if !last {
				value = v[key]
				continue
			}
			converted, ok := convert(v[key])
			v[key] = converted
			return ok
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(v) {
				return false
			}
			if !last {
				value = v[n]
				continue
			}
			converted, ok := convert(v[n])
			v[n] = converted
			return ok
		}
	}
	return false
}

// convert writes a scalar in the other type that it can stand for.
func convert(value any) (any, bool) {
	switch v := value.(type) {
	case json.Number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		switch read, err := strictjson.Decode([]byte(v)); read := read.(type) {
		case json.Number:
			return read, err == nil
		case bool:
			return read, err == nil
		}
	}
	return value, false
}
