package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// A manual is the OpenAPI document as docs.html shows it.
type manual struct {
	Version    string
	Operations []manualOperation
	Schemas    []manualSchema
}

type manualOperation struct {
	ID, Method, Path, Summary, Text string
	Parameters                      []*huma.Param
	Body, Request                   string // name of the schema, example
	Status                          int
	Reply, Answer                   string // name of the schema, example
	Refusals                        []string
}

type manualSchema struct {
	Name   string
	Fields []manualField
}

type manualField struct {
	Name, Type, Link, Text string
	Required               bool
}

func manualOf(doc *huma.OpenAPI) manual {
	m := manual{Version: doc.Info.Version}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
			if op != nil {
				m.Operations = append(m.Operations, operationOf(op))
			}
		}
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		m.Schemas = append(m.Schemas, manualSchema{name, fieldsOf(schemas[name])})
	}
	return m
}

func operationOf(op *huma.Operation) manualOperation {
	m := manualOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Text: op.Description,
		Parameters: op.Parameters, Status: op.DefaultStatus}
	if op.RequestBody != nil {
		m.Body, m.Request = exampleOf(op.RequestBody.Content)
	}
	success := strconv.Itoa(op.DefaultStatus)
	m.Reply, m.Answer = exampleOf(op.Responses[success].Content)
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if status != success {
			m.Refusals = append(m.Refusals, status)
		}
	}
	return m
}

func exampleOf(content map[string]*huma.MediaType) (schema, example string) {
	media := content["application/json"]
	if media == nil {
		media = content[linesType]
	}
	if media == nil {
		return "", ""
	}
	text, err := json.MarshalIndent(media.Example, "", "  ")
	if err != nil {
		return "", ""
	}
	return strings.TrimPrefix(media.Schema.Ref, schemaPrefix), string(text)
}

func fieldsOf(schema *huma.Schema) []manualField {
	var fields []manualField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		field := manualField{Name: name, Text: property.Description, Required: slices.Contains(schema.Required, name)}
		field.Type, field.Link = typeOf(property)
		fields = append(fields, field)
	}
	return fields
}

// typeOf names a type, and the schema that says more.
func typeOf(schema *huma.Schema) (name, link string) {
	switch {
	case schema.Ref != "":
		name = strings.TrimPrefix(schema.Ref, schemaPrefix)
		return name, name
	case schema.Type == huma.TypeArray:
		name, link = typeOf(schema.Items)
		return "list of " + name, link
	case len(schema.AnyOf) == 2 && schema.AnyOf[1].Type == "null":
		name, link = typeOf(schema.AnyOf[0])
		return name + " or null", link
	case schema.Type == "":
		return "any", ""
	}
	return schema.Type, ""
}
