package baseline

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// mostText bounds a text that is drawn from a pattern, in bytes.
const mostText = 4096

// mostMore bounds how often a repetition is drawn beyond its minimum.
const mostMore = 3

// matching draws a text that the pattern matches, from the syntax tree of the
// regular expression. It reports false where the expression is not one of
// package regexp, such as one with a lookahead, or needs too long a text.
// Assertions (^, $ and word boundaries) draw nothing: a text that breaks one is
// found when the arguments are validated.
func (s *sampler) matching(pattern string) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	s.expression(&b, tree)
	return b.String(), b.Len() <= mostText
}

// expression draws what one node of the tree matches. It stops when the text is
// too long.
func (s *sampler) expression(b *strings.Builder, tree *syntax.Regexp) {
	if b.Len() > mostText {
		return
	}
	switch tree.Op {
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		b.WriteRune(s.rune(tree.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(rune('a' + s.below(26)))
	case syntax.OpCapture, syntax.OpConcat:
		for _, part := range tree.Sub {
			s.expression(b, part)
		}
	case syntax.OpAlternate:
		s.expression(b, tree.Sub[s.below(len(tree.Sub))])
	case syntax.OpStar:
		s.repeat(b, tree.Sub[0], 0, -1)
	case syntax.OpPlus:
		s.repeat(b, tree.Sub[0], 1, -1)
	case syntax.OpQuest:
		s.repeat(b, tree.Sub[0], 0, 1)
	case syntax.OpRepeat:
		s.repeat(b, tree.Sub[0], tree.Min, tree.Max)
	}
}

// repeat draws a part between least and most times, where a negative most is no
// limit.
func (s *sampler) repeat(b *strings.Builder, part *syntax.Regexp, least, most int) {
	more := mostMore
	if most >= 0 {
		more = min(more, most-least)
	}
	for range least + s.below(more+1) {
		if b.Len() > mostText {
			return
		}
		s.expression(b, part)
	}
}

// rune draws a character of a class, which is a list of pairs of bounds: a
// printable one of ASCII if the class has any.
func (s *sampler) rune(class []rune) rune {
	var printable []rune
	for r := rune(' '); r < unicode.MaxASCII; r++ {
		for pair := range slices.Chunk(class, 2) {
			if pair[0] <= r && r <= pair[1] {
				printable = append(printable, r)
			}
		}
	}
	if len(printable) > 0 {
		return printable[s.below(len(printable))]
	}
	if len(class) == 0 {
		return unicode.ReplacementChar // nothing matches an empty class
	}
	at := 2 * s.below(len(class)/2)
	return class[at] + rune(s.below(int(class[at+1]-class[at])+1))
}
