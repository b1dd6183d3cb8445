package main

import (
	"strings"
	"unicode/utf8"
)

// fold breaks cells at their blanks so that a table fits into a width, the widest
// column first; what does not fit stands below, in the same column. Words stay
// whole, also where the table becomes too wide by them. A width of 0 breaks
// nothing.
func fold(rows [][]string, width int) [][]string {
	if width == 0 {
		return rows
	}
	widths := narrowed(rows, width)
	var folded [][]string
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 0
		for column, text := range row {
			cells[column] = broken(text, widths[column])
			height = max(height, len(cells[column]))
		}
		for i := range height {
			line := make([]string, len(row))
			for column := range row {
				if i < len(cells[column]) {
					line[column] = cells[column][i]
				}
			}
			folded = append(folded, line)
		}
	}
	return folded
}

// narrowed is how wide each column may be: as wide as its cells where there is
// room, else the widest are made narrower in turn, down to their longest words.
func narrowed(rows [][]string, width int) []int {
	var widths, words []int
	for _, row := range rows {
		for column, text := range row {
			if column == len(widths) {
				widths, words = append(widths, 0), append(words, 0)
			}
			widths[column] = max(widths[column], utf8.RuneCountInString(text))
			for word := range strings.FieldsSeq(text) {
				words[column] = max(words[column], utf8.RuneCountInString(word))
			}
		}
	}
	over := -gap - width
	for _, w := range widths {
		over += w + gap
	}
	for ; over > 0; over-- {
		widest := -1
		for column, w := range widths {
			if w > words[column] && (widest < 0 || w > widths[widest]) {
				widest = column
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// broken breaks a text at blanks into lines of at most so many characters, longer
// words apart. A text that fits stays as it is.
func broken(text string, room int) []string {
	if utf8.RuneCountInString(text) <= room {
		return []string{text}
	}
	var list []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			list, line = append(list, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(list, line)
}
