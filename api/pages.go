package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"toolgym/tools"
)

//go:embed page
var pageFiles embed.FS

// pages adds what a person or a generator reads: the front page, the document
// and its readable form. They load nothing from elsewhere and run no script.
func (s *Server) pages() error {
	text, err := json.MarshalIndent(s.api.OpenAPI(), "", " ")
	if err != nil {
		return fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	templates, err := template.ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return fmt.Errorf("reading the pages: %w", err)
	}
	var docs bytes.Buffer
	if err := templates.ExecuteTemplate(&docs, "docs.html", manualOf(s.api.OpenAPI())); err != nil {
		return fmt.Errorf("writing the documentation: %w", err)
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return fmt.Errorf("reading the pages: %w", err)
	}
	s.echo.GET("/openapi.json", static("application/json", text))
	s.echo.GET("/docs", static("text/html; charset=utf-8", docs.Bytes()))
	s.echo.GET("/docs/style.css", static("text/css; charset=utf-8", style))
	s.echo.GET("/", s.front(templates))
	return nil
}

// secure sets what keeps a page from loading, framing or sending anything.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("Referrer-Policy", "no-referrer")
}

func static(kind string, text []byte) echo.HandlerFunc {
	return func(c echo.Context) error {
		secure(c.Response().Header())
		return c.Blob(http.StatusOK, kind, text)
	}
}

func (s *Server) front(templates *template.Template) echo.HandlerFunc {
	first := s.config.Specs[0]
	return func(c echo.Context) error {
		var page bytes.Buffer
		err := templates.ExecuteTemplate(&page, "index.html", struct {
			Specs        tools.Specs
			Host, TaskID string
		}{s.config.Specs, c.Request().Host, first.Name + "/" + first.Levels[0] + "/17"})
		if err != nil {
			return fmt.Errorf("writing the front page: %w", err)
		}
		secure(c.Response().Header())
		return c.HTMLBlob(http.StatusOK, page.Bytes())
	}
}
