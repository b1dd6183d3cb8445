package api

import (
	"net/http"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// raw serves a GET route whose answer is not JSON, and puts it into the document
// beside the others.
func (s *Server) raw(r route, kind string, example any, handler echo.HandlerFunc) {
	s.echo.GET(regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(r.path, ":$1"), requires(r.role, handler))
	op := &huma.Operation{OperationID: r.id, Method: http.MethodGet, Path: r.path, Tags: []string{r.tag}, Summary: r.summary, Description: r.text,
		DefaultStatus: http.StatusOK, Responses: map[string]*huma.Response{"200": {Description: http.StatusText(http.StatusOK),
			Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString}, Example: example}}}}}
	for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	s.api.OpenAPI().AddOperation(op)
	s.describe(op, r, nil)
}
