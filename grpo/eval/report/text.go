package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"toolgym/internal/plain"
)

// writeText writes for a terminal.
func (r Report) writeText(w io.Writer) error {
	var b bytes.Buffer
	for i, s := range r.sections() {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.ToUpper(s.title) + "\n")
		for _, line := range s.lines {
			b.WriteString(wrap(line, 100) + "\n")
		}
		for _, t := range s.tables {
			aligned := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			for _, row := range append([][]string{t.heading}, t.rows...) {
				_, _ = fmt.Fprintln(aligned, strings.Join(row, "\t")) // a buffer takes everything
			}
			_ = aligned.Flush()
		}
		if s.code != "" {
			b.WriteString("Again: " + s.code + "\n")
		}
	}
	return sendShown(w, regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAll(b.Bytes(), nil)) // empty cells at the end of a row
}

// writeMarkdown writes tables as GitHub's flavour has them.
func (r Report) writeMarkdown(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# " + cell(r.Run.Name) + "\n")
	for _, s := range r.sections() {
		b.WriteString("\n## " + s.title + "\n")
		for _, line := range s.lines {
			b.WriteString("\n" + cell(line) + "\n")
		}
		for _, t := range s.tables {
			b.WriteString("\n" + markdownRow(t.heading) + "|" + strings.Repeat(" --- |", len(t.heading)) + "\n")
			for _, row := range t.rows {
				b.WriteString(markdownRow(row))
			}
		}
		if s.code != "" {
			b.WriteString("\n```sh\n" + s.code + "\n```\n")
		}
	}
	return sendShown(w, b.Bytes())
}

func markdownRow(cells []string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + cell(c) + " |")
	}
	return b.String() + "\n"
}

// cell keeps a model's own text from being read as markup.
func cell(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "\n", " ").Replace(text)
}

// wrap breaks a line at words.
func wrap(line string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(line) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n")
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// sendShown is send for a format that people read: every character can be seen.
func sendShown(w io.Writer, text []byte) error { return send(w, []byte(plain.Text(string(text)))) }

func send(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
