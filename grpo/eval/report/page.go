package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageHTML string

// shown is a section as the page's template takes it.
type shown struct {
	Title, Code string
	Lines       []string
	Tables      []shownTable
	Figure      template.HTML // our own drawing, never a model's text
	Caption     string
}

type shownTable struct {
	Heading []string
	Rows    [][]string
}

// writeHTML writes one file that needs nothing else.
func (r Report) writeHTML(w io.Writer) error {
	page, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	var sections []shown
	for _, s := range r.sections() {
		var drawn figure
		if s.figure != nil {
			drawn = s.draw()
		}
		one := shown{Title: s.title, Code: s.code, Lines: s.lines, Figure: template.HTML(drawn.svg), Caption: drawn.caption}
		for _, t := range s.tables {
			one.Tables = append(one.Tables, shownTable{t.heading, t.rows})
		}
		sections = append(sections, one)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{"Run": r.Run.Name, "Sections": sections}); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return sendShown(w, b.Bytes())
}
