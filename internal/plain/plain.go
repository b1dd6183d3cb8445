package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolgym/internal/refusal"
)

// The bounds of a name.
const (
	longestName = 200 // bytes
	marks       = " ._-:/@+,()'"
)

// Name reports a name that is not letters, digits and a few marks, as an
// [*tools.Error] with code invalid. An empty name is valid.
func Name(where, name string) error {
	const want = "letters, digits, blanks and . _ - : / @ + , ( ) ', at most 200 bytes, beginning with a letter or digit"
	switch {
	case name == "":
		return nil
	case len(name) > longestName:
		return refusal.New(where, want, "the name has %d bytes", len(name))
	case !utf8.ValidString(name):
		return refusal.New(where, want, "the name is not UTF-8")
	}
	for i, c := range name {
		if !letter(c) && (i == 0 || !strings.ContainsRune(marks, c)) {
			return refusal.New(where, want, "the name has the character %U at byte %d", c, i)
		}
	}
	if strings.HasSuffix(name, " ") {
		return refusal.New(where, want, "the name ends with a blank")
	}
	return nil
}

// letter reports whether a character may stand anywhere in a name. Letters that
// take no space are none.
func letter(c rune) bool {
	return (unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c)) && !unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Slug makes a name of a text: characters that a name may not have become _.
func Slug(text string) string {
	text = strings.Map(func(c rune) rune {
		if letter(c) && c != utf8.RuneError || strings.ContainsRune(marks, c) {
			return c
		}
		return '_'
	}, text)
	first, _ := utf8.DecodeRuneInString(text)
	if !letter(first) {
		text = "x" + text
	}
	for len(text) > longestName/2 {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return strings.TrimRight(text, " ")
}

// Text writes control and format characters as visible ones, except for line
// feeds, tabs and the joiners of scripts and emoji.
func Text(text string) string { return visible(text, "\n\t") }

// Line is Text for a single line: line feeds and tabs are visible as well.
func Line(text string) string { return visible(text, "") }

func visible(text, except string) string {
	hides := func(c rune) bool { return hidden(c) && !strings.ContainsRune(except, c) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hides) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case !hides(c):
			b.WriteRune(c)
		case c < ' ':
			b.WriteRune('␀' + c)
		default:
			fmt.Fprintf(&b, "⟨%U⟩", c)
		}
	}
	return b.String()
}

// hidden reports whether a character is not seen, or changes how others are
// shown.
func hidden(c rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	return c != zeroWidthNonJoiner && c != zeroWidthJoiner &&
		(unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c))
}

// Cell is a cell of a CSV file that a spreadsheet takes for text: one that would
// begin a formula has an apostrophe in front. Numbers are not to be passed.
func Cell(text string) string {
	if trimmed := strings.TrimLeft(text, " "); trimmed != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(trimmed)[0]) {
		return "'" + text
	}
	return text
}
