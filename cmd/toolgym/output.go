package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"toolgym/internal/plain"
)

// printJSON writes one compact JSON value on a line of its own.
func (w *console) printJSON(v any) error {
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// gap is the blank between two columns.
const gap = 2

// printTable writes rows in aligned columns under a heading, folded to the width
// of a terminal.
func (w *console) printTable(heading []string, rows [][]string) error {
	var lines [][]string
	for _, row := range append([][]string{heading}, rows...) {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = plain.Line(cell)
		}
		lines = append(lines, line)
	}
	table := fold(lines, columns(w.out))
	return writeTable(w.out, table[0], table[1:])
}

func writeTable(to io.Writer, heading []string, rows [][]string) error {
	table := tabwriter.NewWriter(to, 0, 0, gap, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		if _, err := fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t")); err != nil {
			return fmt.Errorf("writing a table: %w", err)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

// printf writes a result, whose characters can all be seen; a closed pipe ends
// the command.
func (w *console) printf(format string, args ...any) error {
	if _, err := io.WriteString(w.out, plain.Text(fmt.Sprintf(format, args...))); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}
