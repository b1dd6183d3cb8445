package lab

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The kinds of places in a completion, as the style sheet draws them: each in a
// way of its own that needs no colour.
const (
	placeStrict    = "strict"    // a call in the native form: a solid line
	placeEnvelope  = "envelope"  // dashed
	placeSyntax    = "syntax"    // dotted
	placeLost      = "lost"      // an attempt that does not count: double
	placeArgument  = "argument"  // a value that is wrong: wavy
	placeReasoning = "reasoning" // slanted
	placeUnread    = "unread"    // from a made-up result on: struck through
)

// A stretch is text[start:end], about which something is said. One without
// length is a point.
type stretch struct {
	start, end int
	kind       string
	number     int // of the finding that is marked where it starts
}

// A segment is a piece of a text between two borders of stretches. The texts of
// all segments, one after another, are the text.
type segment struct {
	Text  string
	Class string // of all stretches that cover it, the widest first
	Pins  []int  // numbers of the findings that start here
}

// segments cuts a text at the borders of its stretches, which may lie within
// each other and across each other. A border inside of a character moves before it.
func segments(text string, list []stretch) []segment {
	list = slices.Clone(list)
	borders := []int{0, len(text)}
	for i := range list {
		s := &list[i]
		s.start = atRune(text, s.start)
		s.end = max(s.start, atRune(text, s.end))
		borders = append(borders, s.start, s.end)
	}
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(b.end-b.start, a.end-a.start) })
	slices.Sort(borders)
	borders = slices.Compact(borders)
	var cut []segment
	for i, from := range borders {
		to := len(text)
		if i+1 < len(borders) {
			to = borders[i+1]
		}
		piece := covered(text, from, to, list)
		if piece.Text != "" || piece.Pins != nil {
			cut = append(cut, piece)
		}
	}
	return cut
}

// covered is text[from:to], between two borders that are neighbours.
func covered(text string, from, to int, list []stretch) segment {
	piece := segment{Text: text[from:to]}
	var classes []string
	for _, s := range list {
		if s.start <= from && to <= s.end && from < to {
			classes = append(classes, "at-"+s.kind)
		}
		if s.start == from && s.number > 0 {
			piece.Pins = append(piece.Pins, s.number)
		}
	}
	slices.Sort(piece.Pins)
	piece.Class = strings.Join(slices.Compact(classes), " ")
	return piece
}

// atRune is the last place at or before an offset where a character starts.
func atRune(text string, at int) int {
	at = min(max(at, 0), len(text))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// A ruler tells lines and columns of offsets that come in their order, without
// reading the text again for each.
type ruler struct {
	text         string
	at           int
	line, column int // from 0; columns are characters
}

func (r *ruler) measure(at int) (line, column int) {
	if at = atRune(r.text, at); at < r.at {
		*r = ruler{text: r.text}
	}
	for _, c := range r.text[r.at:at] {
		r.column++
		if c == '\n' {
			r.line, r.column = r.line+1, 0
		}
	}
	r.at = at
	return r.line + 1, r.column + 1
}
