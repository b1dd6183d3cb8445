package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed page
var pageFiles embed.FS

// pages adds what a person or a generator reads: the document and its readable
// form. They load nothing from elsewhere and run no script.
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
