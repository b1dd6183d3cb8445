package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	formats "toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
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

// reportEval sends a report, whole or not at all.
func (s *Server) reportEval(c echo.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "json"
	}
	kind, known := mediaTypes()[format]
	if !known {
		return edgeFailure(&tools.Error{Code: tools.Invalid, Where: "format", Message: fmt.Sprintf("unknown format %.40q", format), Want: "text, md, html, json, csv or junit"})
	}
	if _, err := s.evaluations(); err != nil {
		return edgeFailure(err)
	}
	room := evaluation.Room{Specs: s.config.Specs, Store: s.ledger.store, Rubric: s.config.Rubric, Now: s.config.Now}
	report, err := room.Report(c.Request().Context(), c.Param("id"))
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

// exportEval sends the run and its trials, a line each.
func (s *Server) exportEval(c echo.Context) error {
	if _, err := s.evaluations(); err != nil {
		return edgeFailure(err)
	}
	ctx, name := c.Request().Context(), c.Param("id")
	run, err := s.ledger.store.Run(ctx, name)
	if err != nil {
		return edgeFailure(err)
	}
	records, err := s.ledger.store.Records(ctx, name, "")
	if err != nil {
		return edgeFailure(err)
	}
	s.unhurried(c)
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	lines := json.NewEncoder(c.Response())
	lines.SetEscapeHTML(false)
	if err := lines.Encode(run); err != nil {
		return nil //nolint:nilerr // the client has gone
	}
	for _, record := range records {
		if err := lines.Encode(record); err != nil {
			return nil //nolint:nilerr // the client has gone
		}
	}
	return nil
}
