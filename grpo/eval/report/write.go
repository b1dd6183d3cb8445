package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
)

// A Format is a way to write a report.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "md"
	HTML     Format = "html"
	JSON     Format = "json"
	CSV      Format = "csv"
	JUnit    Format = "junit"
)

// Write writes the report. An unknown format is an [*tools.Error]. What goes
// wrong in writing one format does not affect another.
func (r Report) Write(w io.Writer, format Format) error {
	return goroutine.Run(func() error { return r.write(w, format) })
}

func (r Report) write(w io.Writer, format Format) error {
	switch format {
	case Text:
		return r.writeText(w)
	case Markdown:
		return r.writeMarkdown(w)
	case HTML:
		return r.writeHTML(w)
	case JSON:
		return r.writeJSON(w)
	case CSV:
		return r.writeCSV(w)
	case JUnit:
		return r.writeJUnit(w)
	}
	return refusal.New("format", "text, md, html, json, csv or junit", "unknown format %q", format)
}

func (r Report) writeJSON(w io.Writer) error {
	var b bytes.Buffer
	if err := json.Indent(&b, r.fields(), "", "  "); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	b.WriteString("\n")
	return send(w, b.Bytes())
}
