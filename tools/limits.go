package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolgym/internal/strictjson"
)

// The bounds of a schema that is declared. Compiling takes time that grows with
// the square of its subschemas and references, which is why these are much
// smaller than its bytes would allow.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 128    // nesting of objects and arrays
	maxValues      = 60_000 // JSON values of all kinds
	maxSubschemas  = 8_000  // objects and booleans
	maxReferences  = 1_000  // different values of $ref and its relatives
	maxIdentifiers = 200    // of $id, id and anchors
	maxEnum        = 10_000 // values in all lists of enum
	maxPatternText = 8 << 10
	maxProgram     = 20_000 // instructions of all patterns
	maxChain       = 200    // schemas applied to one value, each by the one before
	maxExpanded    = 50_000 // subschemas once references are expanded
	maxCount       = 1 << 53
)

// The bounds of a list of tools.
const (
	maxTools     = 1_024
	maxToolName  = 512    // bytes
	maxSetWeight = 50_000 // weight of all schemas together
)

// tooMuch is the error for a schema, or a list of tools, that is over a bound.
func tooMuch(where, what string, most int) *Error {
	return &Error{Code: Invalid, Where: where, Message: what, Want: fmt.Sprintf("at most %d", most)}
}

// An outline counts what a schema document holds, before it is compiled. It
// knows nothing of keywords that hold data: a reference can make a schema of
// any object.
type outline struct {
	subschemas, enum int
	values           int // JSON values of all kinds
	identifiers      int
	references       map[string]bool
	dynamic          []string // pointers to schemas that dynamic references can lead to
	path             []string
}

// readSchema decodes a schema within the bounds of its size, and outlines it.
func readSchema(text json.RawMessage) (any, *outline, error) {
	if len(text) > maxSchemaBytes {
		return nil, nil, tooMuch("/parameters", fmt.Sprintf("the schema has %d bytes", len(text)), maxSchemaBytes)
	}
	limits := strictjson.Limits{Depth: maxSchemaDepth, Values: maxValues, Size: maxSchemaBytes, Number: largestNumber, Exponent: largestNumber}
	document, err := limits.Decode(text)
	if err != nil {
		return nil, nil, err
	}
	o := &outline{references: map[string]bool{}}
	if err := o.add(document); err != nil {
		return nil, nil, err
	}
	for _, bound := range []struct {
		got, most int
		what      string
	}{
		{o.subschemas, maxSubschemas, "objects and booleans"},
		{o.enum, maxEnum, "enum values"},
		{len(o.references), maxReferences, "different references"},
		{o.identifiers, maxIdentifiers, "identifiers and anchors"},
	} {
		if bound.got > bound.most {
			return nil, nil, tooMuch("/parameters", fmt.Sprintf("the schema has %d %s", bound.got, bound.what), bound.most)
		}
	}
	return document, o, nil
}

func (o *outline) add(value any) error {
	o.values++
	switch v := value.(type) {
	case bool:
		o.subschemas++
	case []any:
		for _, item := range v {
			if err := o.add(item); err != nil {
				return err
			}
		}
	case map[string]any:
		o.subschemas++
		return o.addObject(v)
	}
	return nil
}

func (o *outline) addObject(object map[string]any) error {
	for _, key := range sortedKeys(object) {
		o.path = append(o.path, key)
		if err := o.addKeyword(key, object[key]); err != nil {
			return err
		}
		if err := o.add(object[key]); err != nil {
			return err
		}
		o.path = o.path[:len(o.path)-1]
	}
	return nil
}

// addKeyword counts what a member means where its object is a schema. Members
// of other objects are taken for keywords as well: a property that is named
// "enum" has a schema, and no list.
func (o *outline) addKeyword(key string, value any) error {
	text, isText := value.(string)
	switch key {
	case "$ref", "$dynamicRef", "$recursiveRef":
		if isText {
			o.references[text] = true
		}
	case "$id", "id", "$anchor":
		if isText {
			o.identifiers++
		}
	case "$dynamicAnchor", "$recursiveAnchor":
		if isText || value == true {
			o.identifiers++
			o.dynamic = append(o.dynamic, strictjson.Pointer(o.path[:len(o.path)-1]...))
		}
	case "enum":
		list, _ := value.([]any)
		o.enum += len(list)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		number, _ := value.(json.Number)
		if n, ok := strictjson.Integer(number); ok && (!n.IsInt64() || n.Int64() > maxCount) {
			return tooMuch("/parameters"+strictjson.Pointer(o.path...), "the count is too large", maxCount)
		}
	}
	return nil
}

// unreadable is the error for a text that is no JSON, or too large to be read.
func unreadable(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Invalid, Where: "/parameters", Message: strings.ReplaceAll(err.Error(), "\n", " "),
		Want: "a JSON Schema (draft 2020-12) of an object, without references to other documents"}
}
