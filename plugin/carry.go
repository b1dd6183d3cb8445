package plugin

import (
	"encoding/json"
	"fmt"
	"strings"

	ollama "github.com/ollama/ollama/api"
	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/strictjson"
)

// carryTools writes tools in the form that Ollama knows, once for a request. It
// knows less than JSON Schema does. A local $ref is written out, const becomes
// enum, oneOf becomes anyOf, and constraints that have no place (minimum,
// pattern, additionalProperties, …) are left out: the tools check arguments
// themselves. A schema whose shape would be lost is refused, with its place.
func carryTools(declared []llms.Tool) (ollama.Tools, error) {
	carried := make(ollama.Tools, 0, len(declared))
	for _, t := range declared {
		if t.Function == nil {
			return nil, refused("a tool of type %q without a function", t.Type)
		}
		parameters, err := carryParameters(t.Function.Parameters)
		if err != nil {
			return nil, refused("Ollama can not carry the schema of tool %q: %s", t.Function.Name, err)
		}
		carried = append(carried, ollama.Tool{Type: "function", Function: ollama.ToolFunction{
			Name: t.Function.Name, Description: t.Function.Description, Parameters: parameters,
		}})
	}
	return carried, nil
}

// carryParameters converts the schema of a tool's arguments, which may be
// anything that encodes to JSON.
func carryParameters(schema any) (ollama.ToolFunctionParameters, error) {
	var none ollama.ToolFunctionParameters
	text, err := json.Marshal(schema)
	if err != nil {
		return none, fmt.Errorf("encoding it: %w", err)
	}
	if string(text) == "null" {
		text = []byte(`{}`)
	}
	var top node
	if err := json.Unmarshal(text, &top); err != nil {
		return none, fmt.Errorf("it is no object of keywords: %w", err)
	}
	left := maxCarried
	c := carrier{top: text, depth: maxCarryDepth, left: &left}
	if top.Ref != "" {
		if top, err = c.follow(top.Ref); err != nil {
			return none, err
		}
	}
	if len(top.AnyOf)+len(top.OneOf)+len(top.AllOf) > 0 {
		return none, fmt.Errorf("at the top there is a choice between schemas, and only an object's properties fit there")
	}
	if len(top.Type) > 1 || len(top.Type) == 1 && top.Type[0] != "object" {
		return none, fmt.Errorf("at the top the type is %s, and only an object fits there", top.Type)
	}
	properties, err := c.properties(top, "")
	if err != nil {
		return none, err
	}
	if properties == nil {
		properties = ollama.NewToolPropertiesMap()
	}
	return ollama.ToolFunctionParameters{Type: "object", Required: top.Required, Properties: properties}, nil
}

// The bounds of one tool's schema, in schemas within it. The depth ends a $ref
// that leads to itself, the number one that doubles what it leads to.
const (
	maxCarryDepth = 16
	maxCarried    = 2000
)

// node is what of a schema has a place in Ollama's form, and what would lose
// its shape there.
type node struct {
	Type        ollama.PropertyType `json:"type"`
	Description string              `json:"description"`
	Enum        []json.RawMessage   `json:"enum"` // raw, since a float64 would lose digits
	Const       *json.RawMessage    `json:"const"`
	Items       json.RawMessage     `json:"items"`
	Properties  ordered             `json:"properties"`
	Required    []string            `json:"required"`
	Ref         string              `json:"$ref"`
	AnyOf       []json.RawMessage   `json:"anyOf"`
	OneOf       []json.RawMessage   `json:"oneOf"`
	AllOf       []json.RawMessage   `json:"allOf"`
	Not         json.RawMessage     `json:"not"`
}

type carrier struct {
	top   json.RawMessage
	depth int
	left  *int
}

// properties converts those of an object in their order; nil if it has none.
func (c carrier) properties(n node, at string) (*ollama.ToolPropertiesMap, error) {
	if len(n.Properties) == 0 {
		return nil, nil
	}
	converted := ollama.NewToolPropertiesMap()
	for _, member := range n.Properties {
		property, err := c.property(member.text, at+"/properties/"+member.key)
		if err != nil {
			return nil, err
		}
		converted.Set(member.key, property)
	}
	return converted, nil
}

func (c carrier) property(text json.RawMessage, at string) (ollama.ToolProperty, error) {
	var none ollama.ToolProperty
	if c.depth--; c.depth < 0 {
		return none, fmt.Errorf("%s: more than %d schemas within each other, or a $ref to itself", at, maxCarryDepth)
	}
	if *c.left--; *c.left < 0 {
		return none, fmt.Errorf("%s: more than %d schemas, with what $ref leads to written out", at, maxCarried)
	}
	var n node
	if err := json.Unmarshal(text, &n); err != nil {
		return none, fmt.Errorf("%s: it is no object of keywords", at)
	}
	if n.Ref != "" {
		target, err := c.follow(n.Ref)
		if err != nil {
			return none, fmt.Errorf("%s: %w", at, err)
		}
		if n.Description != "" {
			target.Description = n.Description
		}
		target.Ref, n = "", target
	}
	if len(n.AllOf) > 0 || len(n.Not) > 0 {
		return none, fmt.Errorf("%s: allOf and not have no place", at)
	}
	return c.convert(n, at)
}

func (c carrier) convert(n node, at string) (ollama.ToolProperty, error) {
	p := ollama.ToolProperty{Type: n.Type, Description: n.Description}
	if n.Const != nil {
		n.Enum = []json.RawMessage{*n.Const}
	}
	for _, value := range n.Enum {
		p.Enum = append(p.Enum, value)
	}
	var err error
	if p.Properties, err = c.properties(n, at); err != nil {
		return p, err
	}
	if len(n.Items) > 0 && string(n.Items) != "true" {
		if p.Items, err = c.property(n.Items, at+"/items"); err != nil {
			return p, err
		}
	}
	for i, choice := range append(n.AnyOf, n.OneOf...) {
		converted, err := c.property(choice, fmt.Sprintf("%s/anyOf/%d", at, i))
		if err != nil {
			return p, err
		}
		p.AnyOf = append(p.AnyOf, converted)
	}
	return p, nil
}

// follow finds what a local $ref points to. A chain of references counts as
// depth.
func (c carrier) follow(ref string) (node, error) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || !strings.HasPrefix(pointer, "/") {
		return node{}, fmt.Errorf("$ref %q leaves the schema", ref)
	}
	text := c.top
	for _, key := range strictjson.Path(pointer) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil || members[key] == nil {
			return node{}, fmt.Errorf("$ref %q points to nothing", ref)
		}
		text = members[key]
	}
	var n node
	if err := json.Unmarshal(text, &n); err != nil {
		return n, fmt.Errorf("$ref %q points to no schema", ref)
	}
	if n.Ref == "" {
		return n, nil
	}
	if c.depth--; c.depth < 0 {
		return n, fmt.Errorf("$ref %q leads to itself", ref)
	}
	return c.follow(n.Ref)
}

// ordered are the members of an object in the order in which they stand.
type ordered []member

type member struct {
	key  string
	text json.RawMessage
}

// UnmarshalJSON keeps the order, which encoding/json's maps lose and small
// models are sensitive to.
func (o *ordered) UnmarshalJSON(text []byte) error {
	members, _, err := strictjson.Defaults().Object(string(text))
	for _, m := range members {
		*o = append(*o, member{m.Key, json.RawMessage(text[m.Start:m.End])})
	}
	return err
}
