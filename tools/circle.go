package tools

import "github.com/santhosh-tekuri/jsonschema/v6"

// circles looks for a schema that comes back to itself without having gone into
// the value, as {"$ref":"#"} does: no value is valid against it, so that such a
// tool cannot be called. A schema that comes back
// to itself further down in the value describes a list or a tree.
type circles struct {
	dynamic []*jsonschema.Schema // where dynamic references can lead
	known   map[*jsonschema.Schema]visit
	below   []*jsonschema.Schema // those of parts of the value, to be looked at
	closed  []*jsonschema.Schema // in order: each after those that it applies to its own value
}

type visit int

const (
	unseen visit = iota
	open         // it is being looked at
	closed
)

// findCircle returns where a schema goes round in a circle, or "", and then all
// subschemas that it leads to, each after those that it applies to its own value.
func findCircle(s *jsonschema.Schema, dynamic []*jsonschema.Schema) (at string, order []*jsonschema.Schema) {
	c := circles{dynamic: dynamic, known: map[*jsonschema.Schema]visit{}, below: []*jsonschema.Schema{s}}
	for len(c.below) > 0 {
		last := len(c.below) - 1
		next := c.below[last]
		c.below = c.below[:last]
		if at := c.walk(next); at != "" {
			return at, nil
		}
	}
	return "", c.closed
}

// walk follows what applies to the same value.
func (c *circles) walk(s *jsonschema.Schema) string {
	switch c.known[s] {
	case open:
		return s.Location
	case closed:
		return ""
	}
	c.known[s] = open
	for _, next := range sameValue(s, c.dynamic) {
		if at := c.walk(next); at != "" {
			return at
		}
	}
	c.known[s] = closed
	c.closed = append(c.closed, s)
	c.below = append(c.below, partsOfValue(s)...)
	return ""
}

// sameValue lists the schemas that a schema applies to its own value. Where a
// dynamic reference leads depends on how it was come to: all that it can lead to
// are listed.
func sameValue(s *jsonschema.Schema, dynamic []*jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	for _, one := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else} {
		if one != nil {
			list = append(list, one)
		}
	}
	if s.DynamicRef != nil {
		list = append(list, s.DynamicRef.Ref)
	}
	for _, one := range dynamic {
		if s.RecursiveRef != nil && one != s.RecursiveRef && one.RecursiveAnchor ||
			s.DynamicRef != nil && one != s.DynamicRef.Ref && one.DynamicAnchor != "" && one.DynamicAnchor == s.DynamicRef.Anchor {
			list = append(list, one)
		}
	}
	for _, some := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		list = append(list, some...)
	}
	for _, one := range s.DependentSchemas {
		list = append(list, one)
	}
	for _, one := range s.Dependencies {
		list = appendSchema(list, one)
	}
	return list
}

// partsOfValue lists the schemas that a schema applies to parts of its value.
func partsOfValue(s *jsonschema.Schema) []*jsonschema.Schema {
	list := append([]*jsonschema.Schema{}, s.PrefixItems...)
	for _, one := range []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema} {
		if one != nil {
			list = append(list, one)
		}
	}
	for _, one := range s.Properties {
		list = append(list, one)
	}
	for _, one := range s.PatternProperties {
		list = append(list, one)
	}
	for _, one := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		list = appendSchema(list, one)
	}
	return list
}

// appendSchema takes what a keyword holds that may hold other things as well.
func appendSchema(list []*jsonschema.Schema, held any) []*jsonschema.Schema {
	switch held := held.(type) {
	case *jsonschema.Schema:
		return append(list, held)
	case []*jsonschema.Schema:
		return append(list, held...)
	}
	return list
}
