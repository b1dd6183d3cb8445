package api

import (
	"net/http"
	"reflect"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// A content is one media type of an answer that huma does not write, as the
// document describes it.
type content struct {
	kind    string
	schema  *huma.Schema // of the whole or, of JSON lines, of a line; nil for text
	item    *huma.Schema // of an event, see eventSchema
	example any
}

// raw serves a GET route whose answer is not a JSON document of huma's, and puts
// it into the document.
func (s *Server) raw(r route, contents []content, handler echo.HandlerFunc) {
	op := &huma.Operation{OperationID: r.id, Method: http.MethodGet, Path: r.path, Tags: []string{r.tag}, Summary: r.summary, Description: r.text,
		DefaultStatus: http.StatusOK, Parameters: r.parameters}
	op.Responses = map[string]*huma.Response{"200": {Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{}}}
	for _, c := range contents {
		media := &huma.MediaType{Schema: c.schema, Example: c.example}
		if c.schema == nil {
			media.Schema = &huma.Schema{Type: huma.TypeString}
		}
		if c.item != nil {
			media.Extensions = map[string]any{"x-item-schema": c.item}
		}
		op.Responses["200"].Content[c.kind] = media
	}
	for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	s.api.OpenAPI().AddOperation(op)
	s.describe(op, r, nil)
	s.echo.GET(regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(r.path, ":$1"), requires(r.role, asked(op, handler)))
}

// asked refuses a query that is not the operation's, as wellAsked does for the
// routes of huma.
func asked(op *huma.Operation, handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if model := queryFlaws(op, c.Request().URL.RawQuery); model != nil {
			return restated(op, model)
		}
		return handle(c)
	}
}

// eventSchema describes a Server-Sent Event whose data is JSON of one of the
// types. OpenAPI 3.1 has no word for it; 3.2 calls it itemSchema.
func eventSchema(registry huma.Registry, data ...reflect.Type) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"data"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"id": text, "event": text, "data": oneOf(registry, data...)}}
}

// oneOf is the schema of a value of any of the types.
func oneOf(registry huma.Registry, types ...reflect.Type) *huma.Schema {
	schema := &huma.Schema{}
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, registry.Schema(t, true, ""))
	}
	return schema
}
