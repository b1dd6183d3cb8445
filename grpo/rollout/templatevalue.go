package rollout

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/tools"
)

// templateMessage is a message as templates see it.
type templateMessage struct {
	Role       string
	Content    string
	Thinking   string
	ToolCalls  []any // none: what the model wrote stands in Content, as it wrote it
	ToolName   string
	ToolCallID string
	Images     []any
}

// templateTool is a tool as templates see it. Printed, or passed to json, it
// is the tool's whole declaration.
type templateTool struct {
	Type     string
	Function templateFunction
	whole    tools.Tool
}

type templateFunction struct {
	Name        string
	Description string
	Parameters  templateParameters
	whole       tools.Tool
}

// templateParameters are the parts of a schema that templates ask for.
type templateParameters struct {
	Type       string
	Required   []string
	Properties templateProperties
	whole      json.RawMessage
}

type templateProperties map[string]templateProperty

type templateProperty struct {
	Type        templateType
	Description string
	Enum        []any
	Items       any
	whole       json.RawMessage
}

// templateType is a type's name, or several.
type templateType []string

func (t templateTool) MarshalJSON() ([]byte, error)       { return json.Marshal(t.whole) }
func (t templateTool) String() string                     { return asText(t) }
func (f templateFunction) String() string                 { return asText(f) }
func (p templateParameters) MarshalJSON() ([]byte, error) { return p.whole, nil }
func (p templateParameters) String() string               { return string(p.whole) }
func (p templateProperties) String() string               { return asText(p) }
func (p templateProperty) MarshalJSON() ([]byte, error)   { return p.whole, nil }
func (p templateProperty) String() string                 { return string(p.whole) }
func (t templateType) String() string                     { return strings.Join(t, " | ") }

// MarshalJSON writes the function part of the declaration.
func (f templateFunction) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(f.whole)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Function json.RawMessage `json:"function"`
	}
	err = json.Unmarshal(text, &parts)
	return parts.Function, err
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", err)
	}
	return string(text)
}

// templateTools makes the tools ready for a template.
func templateTools(set tools.Set) []templateTool {
	list := make([]templateTool, len(set))
	for i, tool := range set {
		f := templateFunction{Name: tool.Name, Description: tool.Description, Parameters: readParameters(tool.Parameters), whole: tool}
		list[i] = templateTool{Type: "function", Function: f, whole: tool}
	}
	return list
}

// readParameters takes what it knows from a schema and leaves the rest to the
// whole: schemas may have any form, and templates ask for these parts only.
func readParameters(schema json.RawMessage) templateParameters {
	p := templateParameters{whole: schema, Properties: templateProperties{}}
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(schema, &parts)
	_ = json.Unmarshal(parts["type"], &p.Type)
	_ = json.Unmarshal(parts["required"], &p.Required)
	var properties map[string]json.RawMessage
	_ = json.Unmarshal(parts["properties"], &properties)
	for name, text := range properties {
		p.Properties[name] = readProperty(text)
	}
	return p
}

func readProperty(text json.RawMessage) templateProperty {
	p := templateProperty{whole: text}
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(text, &parts)
	_ = json.Unmarshal(parts["description"], &p.Description)
	_ = json.Unmarshal(parts["enum"], &p.Enum)
	_ = json.Unmarshal(parts["items"], &p.Items)
	var one string
	if json.Unmarshal(parts["type"], &one) == nil {
		p.Type = templateType{one}
	} else {
		_ = json.Unmarshal(parts["type"], (*[]string)(&p.Type))
	}
	return p
}

// typeScript names a property's type as TypeScript does.
func typeScript(v any) string {
	p, ok := v.(templateProperty)
	if !ok || len(p.Type) == 0 {
		return "any"
	}
	names := make([]string, len(p.Type))
	for i, t := range p.Type {
		switch t {
		case "integer", "number":
			names[i] = "number"
		case "array":
			names[i] = "any[]"
		case "object":
			names[i] = "Record<string, any>"
		default:
			names[i] = t
		}
	}
	return strings.Join(names, " | ")
}
