package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ollama/ollama/api"

	"toolgym/internal/strictjson"
)

// Function is a tool as it is declared: its arguments have a JSON Schema, or
// none ("null" or empty).
type Function struct {
	Name, Description string
	Parameters        json.RawMessage
}

// Loss is a part of a tool's schema that the form of the server cannot carry.
type Loss struct {
	Function string // name of the tool
	Pointer  string // JSON pointer into the list of tools, such as /0/function/parameters/properties/n/minimum
	Reason   string // empty for a keyword that has no field
	Shape    bool   // the values that the model is told to write have another shape then, and not only fewer constraints
}

// String is "pointer: reason".
func (l Loss) String() string {
	if l.Reason == "" {
		return l.Pointer
	}
	return l.Pointer + ": " + l.Reason
}

// The bounds of one tool's schema, in schemas within it. The depth ends a $ref
// that leads to itself, the number one that doubles what it leads to.
const (
	maxDepth   = 16
	maxSchemas = 2000
	tooMany    = "more than 2000 schemas, with what $ref leads to written out"
)

// Tools converts tools to the form of the server, which has fewer keywords than
// JSON Schema: a local $ref is replaced by what it leads to, const becomes enum
// and oneOf becomes anyOf. What has no place is left out and listed, in the
// order of the schema. The order of properties is kept, since small models are
// sensitive to it, and so are the digits of numbers.
//
// A schema of which nothing can be carried is an error: one that is not an
// object, or whose arguments are not an object.
func Tools(functions []Function) (ToolList, []Loss, error) {
	converted := make(ToolList, 0, len(functions))
	var losses []Loss
	for i, f := range functions {
		c := &converter{function: f.Name, schema: f.Parameters, left: maxSchemas}
		parameters, err := c.parameters(fmt.Sprintf("/%d/function/parameters", i))
		if err != nil {
			return nil, nil, fmt.Errorf("the schema of tool %q: %w", f.Name, err)
		}
		converted = append(converted, api.Tool{Type: "function", Function: api.ToolFunction{
			Name: f.Name, Description: f.Description, Parameters: parameters,
		}})
		losses = append(losses, c.losses...)
	}
	return converted, losses, nil
}

// keywords are those of a schema that have a field, or are looked at to say what
// is lost.
type keywords struct {
	Type        api.PropertyType  `json:"type"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"` // raw, since a float64 would lose digits
	Const       json.RawMessage   `json:"const"`
	Items       json.RawMessage   `json:"items"`
	Properties  members           `json:"properties"`
	Required    []string          `json:"required"`
	Ref         string            `json:"$ref"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`

	all members // of the schema, in their order
}

// decodeKeywords reads a schema; true is the schema without keywords.
func decodeKeywords(text json.RawMessage) (keywords, error) {
	var k keywords
	if text = bytes.TrimSpace(text); string(text) == "true" {
		return k, nil
	}
	if len(text) == 0 || text[0] != '{' {
		return k, fmt.Errorf("got %.20s; expected an object of keywords", text)
	}
	if err := k.all.UnmarshalJSON(text); err != nil {
		return k, fmt.Errorf("expected an object of keywords: %w", err)
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return k, fmt.Errorf("expected an object of keywords: %w", err)
	}
	return k, nil
}

// converter converts the schema of one tool.
type converter struct {
	function string
	schema   json.RawMessage // the whole, which $ref points into
	left     int             // schemas that may still be converted
	losses   []Loss
}

// lose lists what is lost, at most 2,000 places of one tool.
func (c *converter) lose(pointer, reason string, shape bool) {
	if len(c.losses) == maxSchemas {
		return
	}
	c.losses = append(c.losses, Loss{c.function, pointer, reason, shape})
}

// parameters converts the schema of the arguments.
func (c *converter) parameters(at string) (api.ToolFunctionParameters, error) {
	var none api.ToolFunctionParameters
	if text := string(c.schema); text == "" || text == "null" {
		c.schema = json.RawMessage(`{}`)
	}
	k, err := decodeKeywords(c.schema)
	if err != nil {
		return none, err
	}
	if k.Ref != "" {
		c.report(k, at, "description")
		if k, err = c.follow(k.Ref, maxDepth); err != nil {
			return none, err
		}
	}
	if len(k.Type) > 0 && !slices.Contains(k.Type, "object") {
		return none, fmt.Errorf("got type %s; expected an object", k.Type)
	}
	c.report(k, at, "type", "properties", "required")
	properties := c.properties(k, at, maxDepth)
	if properties == nil {
		properties = api.NewToolPropertiesMap()
	}
	return api.ToolFunctionParameters{Type: "object", Required: k.Required, Properties: properties}, nil
}

// report lists the keywords of a schema that have no field. Those that say
// nothing about values are not listed.
func (c *converter) report(k keywords, at string, carried ...string) {
	silent := []string{"$ref", "$schema", "$id", "$comment", "$anchor", "$defs", "definitions"}
	for _, m := range k.all {
		if slices.Contains(carried, m.key) || slices.Contains(silent, m.key) {
			continue
		}
		shape := slices.Contains([]string{"anyOf", "oneOf", "allOf", "not"}, m.key)
		c.lose(at+strictjson.Pointer(m.key), "", shape)
	}
}

// properties converts the properties of an object in their order; nil if it has
// none.
func (c *converter) properties(k keywords, at string, depth int) *api.ToolPropertiesMap {
	if len(k.Properties) == 0 {
		return nil
	}
	converted := api.NewToolPropertiesMap()
	for _, m := range k.Properties {
		converted.Set(m.key, c.property(m.text, at+"/properties"+strictjson.Pointer(m.key), depth-1))
	}
	return converted
}

// property converts one schema. What cannot be converted becomes a schema
// without keywords and is listed.
func (c *converter) property(text json.RawMessage, at string, depth int) api.ToolProperty {
	if depth < 0 {
		c.lose(at, fmt.Sprintf("more than %d schemas within each other, or a $ref to itself", maxDepth), true)
		return api.ToolProperty{}
	}
	if c.left--; c.left < 0 {
		c.lose(at, tooMany, true)
		return api.ToolProperty{}
	}
	k, err := decodeKeywords(text)
	if err == nil && k.Ref != "" {
		c.report(k, at, "description")
		description := k.Description
		if k, err = c.follow(k.Ref, depth); err == nil && description != "" {
			k.Description = description
		}
	}
	if err != nil {
		c.lose(at, err.Error(), true)
		return api.ToolProperty{}
	}
	return c.convert(k, at, depth)
}

func (c *converter) convert(k keywords, at string, depth int) api.ToolProperty {
	c.report(k, at, "type", "description", "enum", "const", "items", "properties", "anyOf", "oneOf")
	p := api.ToolProperty{Type: k.Type, Description: k.Description, Properties: c.properties(k, at, depth)}
	if len(k.Const) > 0 {
		k.Enum = []json.RawMessage{k.Const}
	}
	for _, value := range k.Enum {
		p.Enum = append(p.Enum, value)
	}
	switch {
	case len(k.Items) == 0 || string(k.Items) == "true":
	case strings.Contains(string(k.Items), `"$ref"`):
		p.Items = c.property(k.Items, at+"/items", depth-1)
	default: // the field takes any schema
		if c.left -= strings.Count(string(k.Items), "{"); c.left < 0 {
			c.lose(at+"/items", tooMany, true)
			break
		}
		p.Items = k.Items
	}
	for i, choice := range k.AnyOf {
		p.AnyOf = append(p.AnyOf, c.property(choice, at+"/anyOf/"+strconv.Itoa(i), depth-1))
	}
	if len(k.AnyOf) > 0 && len(k.OneOf) > 0 {
		c.lose(at+"/oneOf", "there is an anyOf as well", true)
		return p
	}
	for i, choice := range k.OneOf {
		p.AnyOf = append(p.AnyOf, c.property(choice, at+"/oneOf/"+strconv.Itoa(i), depth-1))
	}
	return p
}

// follow finds the schema that a local $ref leads to, through at most depth
// further references.
func (c *converter) follow(ref string, depth int) (keywords, error) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || pointer != "" && !strings.HasPrefix(pointer, "/") {
		return keywords{}, fmt.Errorf("$ref %q is not within the schema; expected #/…", ref)
	}
	text := c.schema
	for _, key := range strictjson.Path(pointer) {
		if text = child(text, key); text == nil {
			return keywords{}, fmt.Errorf("$ref %q leads to nothing", ref)
		}
	}
	k, err := decodeKeywords(text)
	switch {
	case err != nil:
		return k, fmt.Errorf("$ref %q: %w", ref, err)
	case k.Ref == "":
		return k, nil
	case depth == 0:
		return k, fmt.Errorf("$ref %q leads to itself", ref)
	}
	return c.follow(k.Ref, depth-1)
}

// child returns the member of an object, or the element of a list; nil without
// one.
func child(text json.RawMessage, key string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		return object[key]
	}
	var list []json.RawMessage
	if i, err := strconv.Atoi(key); err == nil && json.Unmarshal(text, &list) == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}

// members are those of an object in their order, which the maps of encoding/json
// lose.
type members []member

type member struct {
	key  string
	text json.RawMessage
}

// UnmarshalJSON reads an object; a key that occurs twice is an error.
func (o *members) UnmarshalJSON(text []byte) error {
	list, _, err := strictjson.Defaults().Object(string(text))
	for _, m := range list {
		*o = append(*o, member{m.Key, json.RawMessage(text[m.Start:m.End])})
	}
	return err
}
