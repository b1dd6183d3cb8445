package api

import (
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/client"
)

const schemaPrefix = "#/components/schemas/"

// about is the description of the whole API.
const about = "Environments whose actions are JSON-schema tools, played over HTTP.\n\n" +
	"Episodes, MCP sessions, event streams, scoring streams, requests, the bytes of bodies and trajectories, policy runs and evaluations are limited in all and " +
	"for one token. Over the share of the token, and over its rate, the answer is 429; when a limit for all is reached, it is 503. Both say in detail which limit it is and " +
	"in Retry-After when to try again. A stream in which nothing comes for ten minutes ends, as does one that is not read."

// humaConfig sets huma up without its own pages: its documentation page loads
// scripts from elsewhere, and it writes openapi.json without a lock when the
// first reader comes.
func humaConfig(version string) huma.Config {
	registry := huma.NewMapRegistry(schemaPrefix, schemaName)
	registerForms(registry)
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "toolgym", Version: version, Description: about},
			Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "A token of the server's token file, where it has one."},
				"key":    {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The same, for clients that send it like this."},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{restate},
	}
}

// schemaName names a schema by its type; those of other packages than the
// vocabulary and the wire carry their package's name, so that two cannot meet.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	switch pkg := path.Base(t.PkgPath()); {
	case pkg == "api" || pkg == ".":
		return name
	case pkg == "client" && slices.Contains([]string{"Call", "Message", "Arguments"}, name):
		return name + "Request"
	case pkg == "client" || pkg == "tools":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// A pendingBody is a body whose check is compiled when all routes are there.
type pendingBody struct {
	ref   string
	check *bodyCheck
}

// describe completes an operation: its body, its refusals and its examples.
func (s *Server) describe(op *huma.Operation, r route, holds reflect.Type) {
	registry := s.api.OpenAPI().Components.Schemas
	refusals := append([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError}, r.refusals...)
	if r.path != "/healthz" { // which answers when everything else is busy
		refusals = append(refusals, http.StatusServiceUnavailable)
	}
	if r.role != public {
		op.Security = []map[string][]string{{"bearer": {}}, {"key": {}}, {}}
	}
	if r.method == http.MethodPost || r.method == http.MethodDelete || r.role != "" && r.role != public {
		refusals = append(refusals, http.StatusForbidden)
	}
	if holds != nil {
		refusals = append(refusals, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		s.describeBody(op, r, registry.Schema(holds, true, r.id))
	}
	for _, status := range refusals {
		op.Responses[strconv.Itoa(status)] = s.refusalResponse(r.id, status)
	}
	delete(op.Responses, "default")
	if ok := op.Responses[strconv.Itoa(op.DefaultStatus)]; ok != nil && ok.Content["application/json"] != nil && r.answer != nil {
		ok.Content["application/json"].Example = r.answer
	}
	for _, response := range op.Responses {
		if response.Ref == "" {
			carries(response, "X-Request-Id", requestIDText)
		}
	}
}

const requestIDText = "The id of this exchange: the request's own, or a new one."

// carries adds a header to a response.
func carries(response *huma.Response, name, text string) {
	if response.Headers == nil {
		response.Headers = map[string]*huma.Param{}
	}
	response.Headers[name] = &huma.Param{Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
}

// sharedRefusals names the responses that routes have in common, by status.
func sharedRefusals() map[int]string {
	return map[int]string{
		http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden", http.StatusRequestTimeout: "RequestTimeout",
		http.StatusRequestEntityTooLarge: "ContentTooLarge", http.StatusUnsupportedMediaType: "UnsupportedMediaType",
		http.StatusMisdirectedRequest: "MisdirectedRequest", http.StatusTooManyRequests: "TooManyRequests",
		http.StatusInternalServerError: "InternalServerError", http.StatusServiceUnavailable: "ServiceUnavailable",
	}
}

// refusalResponse is the response of an operation with a problem document: a
// reference where routes have it in common.
func (s *Server) refusalResponse(operation string, status int) *huma.Response {
	name, shared := sharedRefusals()[status]
	if shared {
		operation = ""
	}
	problem := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[client.Problem](), true, "")
	response := &huma.Response{
		Description: http.StatusText(status),
		Content:     map[string]*huma.MediaType{problemType: {Schema: problem, Examples: s.examplesOf(operation, status)}},
	}
	if !shared {
		return response
	}
	carries(response, "X-Request-Id", requestIDText)
	switch status {
	case http.StatusUnauthorized:
		carries(response, "WWW-Authenticate", "The scheme to use: Bearer.")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		carries(response, "Retry-After", "Seconds until it is worth trying again.")
	}
	components := s.api.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	components.Responses[name] = response
	return &huma.Response{Ref: "#/components/responses/" + name}
}

func (s *Server) describeBody(op *huma.Operation, r route, schema *huma.Schema) {
	check := &bodyCheck{limit: r.limit, number: r.number, most: s.config.MaxCompletions, fields: s.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)}
	if check.limit == 0 {
		check.limit = s.config.MaxBody
	}
	op.Metadata[checkKey] = check
	s.bodies = append(s.bodies, pendingBody{schema.Ref, check})
	op.RequestBody = &huma.RequestBody{
		Required: true,
		Content:  map[string]*huma.MediaType{"application/json": {Schema: schema, Example: r.request}},
	}
}

// admitNull lets the properties of a schema be null whose fields are pointers to
// objects and are always written. Reflection shows such a field as its object.
func admitNull(schema *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") && property != nil && property.Ref != "" {
			schema.Properties[name] = orNull(property)
		}
	}
}

// orNull is a schema that admits null as well.
func orNull(schema *huma.Schema) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{schema, {Type: "null"}}, Description: schema.Description}
}

// settle mends what reflection cannot know, when every type is registered: no
// list here is ever null (an array of fixed length is, where a pointer leads to
// it), and seeds have all 64 bits. huma's own error types are replaced by ours.
func settle(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	delete(schemas, "V2ErrorModel")
	delete(schemas, "V2ErrorDetail")
	for name, schema := range schemas {
		admitNull(schema, doc.Components.Schemas.TypeFromRef(schemaPrefix+name))
		for name, property := range schema.Properties {
			if property.Type == huma.TypeArray && property.MinItems == nil {
				property.Nullable = false
			}
			if name == "seed" {
				property.Format = "uint64"
			}
		}
	}
}
