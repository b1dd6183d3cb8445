package api

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"toolgym/grpo/eval"
	formats "toolgym/grpo/eval/report"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// encoded is a value as the data of an event; nothing is told of an error, which
// the next request will meet as well.
func encoded(v any, err error) []byte {
	if err == nil {
		if text, err := json.Marshal(v); err == nil {
			return text
		}
	}
	return []byte("{}")
}

// escapePath writes a name as one segment of a path.
func escapePath(name string) string { return url.PathEscape(name) }

// mediaTypes are those of the formats of a report.
func mediaTypes() map[string]string {
	return map[string]string{"text": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8",
		"json": "application/json", "csv": "text/csv; charset=utf-8", "junit": "application/xml"}
}

// reportContents are the forms of a report as the document shows them.
func reportContents(registry huma.Registry) []content {
	list := []content{{kind: mediaTypes()["json"], schema: registry.Schema(reflect.TypeFor[formats.Report](), true, ""), example: exampleReport()}}
	properties := registry.SchemaFromRef(list[0].schema.Ref).Properties
	for name, property := range properties {
		if name != "run" && name != "not_computed" { // a field that cannot be encoded is null and listed there
			properties[name] = orNull(property)
		}
	}
	for _, c := range []content{{kind: mediaTypes()["text"], example: "llama3.2:3b: 0.400 …\n"}, {kind: mediaTypes()["md"], example: "# llama3.2:3b\n…"}, {kind: mediaTypes()["html"], example: "<!doctype html>…"},
		{kind: mediaTypes()["csv"], example: "run,model,…\n"}, {kind: mediaTypes()["junit"], example: "<testsuites>…</testsuites>"}} {
		c.kind, _, _ = strings.Cut(c.kind, ";")
		list = append(list, c)
	}
	return list
}

// reportFormats are the names of the formats, the default first.
func reportFormats() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"json", "text", "md", "html", "csv", "junit"}, Default: "json"}
}

func exampleReport() formats.Report {
	run := exampleEval().Run
	report, err := formats.New(run, nil, nil, rand.NewPCG(1, 1))
	if err != nil {
		panic("api: the example of a report cannot be made: " + err.Error())
	}
	return report
}

// reportEval sends a report, whole or not at all.
func (s *Server) reportEval(c echo.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "json"
	}
	kind, known := mediaTypes()[format]
	if !known {
		return edgeFailure(refusal.New("format", "text, md, html, json, csv or junit", "unknown format %.40q", format))
	}
	if _, err := s.findEval(c.Request().Context(), c.Param("id")); err != nil {
		return edgeFailure(err)
	}
	patience := s.config.CallTimeout
	byTrial := format == string(formats.CSV) || format == string(formats.JUnit) // and without the agents beside
	if byTrial {
		patience = 0
	}
	report, whole, err := s.beside.Report(c.Request().Context(), s.evaluationRoom(), c.Param("id"), patience)
	if err == nil && !whole && !byTrial {
		err = &tools.Error{Code: tools.Unavailable, Message: "the agents beside the model still play its tasks", Want: "the same again in a while"}
	}
	if err != nil {
		return edgeFailure(err)
	}
	var text bytes.Buffer
	if err := report.Write(&text, formats.Format(format)); err != nil {
		return edgeFailure(err)
	}
	// The page brings its own style, and what models wrote, which must do nothing.
	c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
	return c.Blob(http.StatusOK, kind, text.Bytes())
}

type comparePath struct {
	ID   string `path:"id" doc:"The name of an evaluation."`
	With string `query:"with" required:"true" minLength:"1" doc:"The name of another."`
}

func (s *Server) compareEvals(ctx context.Context, in *comparePath) (*reply[eval.Comparison], error) {
	if _, err := s.findEval(ctx, in.ID); err != nil {
		return nil, err
	}
	if _, err := s.findEval(ctx, in.With); err != nil {
		return nil, refusal.Move("with", err)
	}
	comparison, err := s.evaluationRoom().Compare(ctx, in.ID, in.With)
	if err != nil {
		return nil, err
	}
	return answered(comparison), nil
}

// exportEval sends the run and its trials, a line each. One trial at a time is in
// memory.
func (s *Server) exportEval(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("id")
	if _, err := s.findEval(ctx, name); err != nil {
		return edgeFailure(err)
	}
	run, err := s.ledger.store.Run(ctx, name)
	if err != nil {
		return edgeFailure(err)
	}
	s.unhurried(c)
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	lines := json.NewEncoder(c.Response())
	lines.SetEscapeHTML(false)
	if err := lines.Encode(run); err != nil {
		return sending(ctx, err)
	}
	return sending(ctx, s.ledger.store.EachRecord(ctx, name, "", func(r eval.Record) error { return lines.Encode(r) }))
}
