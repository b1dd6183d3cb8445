package research

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// answeredBy reports whether a text states the correct answer and no wrong one. The
// numbers that count are the percentages, or all numbers if there are none. One must
// be within 0.01 of the target; every other one must be known (see isKnown), so that
// a list of guesses is not an answer. seen has the numbers that searches returned.
func (q question) answeredBy(text string, seen []*big.Rat) bool {
	if len(text) > maxTextBytes {
		return false
	}
	stated := claims(text)
	if slices.ContainsFunc(stated, func(c claim) bool { return c.percent }) {
		stated = slices.DeleteFunc(stated, func(c claim) bool { return !c.percent })
	}
	found, target, known := false, q.target(), append(q.intermediates(), seen...)
	for _, c := range stated {
		switch {
		case c.value == nil:
			return false
		case near(c.value, target):
			found = true
		case !q.isKnown(c, known):
			return false
		}
	}
	return found
}

// near reports whether two values differ by at most 0.01.
func near(a, b *big.Rat) bool {
	distance := new(big.Rat).Sub(a, b)
	return distance.Abs(distance).Cmp(big.NewRat(1, 100)) <= 0
}

// isKnown reports whether a claim is the target rounded further, or the absolute
// value of a known number.
func (q question) isKnown(c claim, known []*big.Rat) bool {
	if rounded(q.value(), c.places).Cmp(c.value) == 0 {
		return true
	}
	size := new(big.Rat).Abs(c.value)
	return slices.ContainsFunc(known, func(value *big.Rat) bool {
		value = new(big.Rat).Abs(value)
		return near(value, size) || rounded(value, c.places).Cmp(size) == 0
	})
}

// intermediates returns the numbers that occur in the calculation
//
//	100·(after − before)/before = 100·(after/before − 1)
//
// These are 1, 100, the year, the difference, the two fractions, and the changes if
// the question compares two.
func (q question) intermediates() []*big.Rat {
	one, hundred := big.NewRat(1, 1), big.NewRat(100, 1)
	values := []*big.Rat{one, hundred}
	for i := range q.reports {
		r := &q.reports[i]
		fraction := new(big.Rat).Quo(r.change(), hundred)
		values = append(values, big.NewRat(int64(r.quarter.year()), 1), big.NewRat(int64(r.after().cents-r.before().cents), 100),
			fraction, new(big.Rat).Add(fraction, one))
		if len(q.reports) > 1 {
			values = append(values, r.change())
		}
	}
	return values
}

// A claim is a number that a text states.
type claim struct {
	value   *big.Rat // nil if it is too long or has an exponent
	places  int      // number of decimals in the text
	percent bool     // marked as a percentage or as percentage points
}

// maxTextBytes is the maximum length of an answer.
const maxTextBytes = 1 << 14

// lexeme matches a date, a word (such as Q3), a number with its sign and percent
// mark, or the end of a clause.
var lexeme = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})` +
	`|(\pL[\pL\d]*)` +
	`|([-−–+]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)((?:[eE][-+]?\d+)?)([\s\x{A0}\x{202F}*_]*(?:\\?%|(?i:percent\b|per\s+cent\b|percentage[\s-]points?\b|pp\b)))?` +
	`|([.,;:!?()\n])`)

// The groups of lexeme.
const (
	dateGroup = 1 + iota
	word
	sign
	digits
	exponent
	percentMark
	stop
)

// claims returns the numbers of a text. A number without a sign gets it from the words
// of its clause: "fell by 3.52 %" is −3.52. The last such word before the number
// counts, or else the first one after it.
func claims(text string) []claim {
	var found []claim
	clause := clause{}
	for _, at := range lexeme.FindAllStringSubmatchIndex(text, -1) {
		group := func(g int) string {
			if at[2*g] < 0 {
				return ""
			}
			return text[at[2*g]:at[2*g+1]]
		}
		switch {
		case at[2*dateGroup] >= 0:
		case at[2*word] >= 0:
			clause.word(strings.ToLower(group(word)))
		case at[2*stop] >= 0:
			clause.end()
		default:
			found = append(found, claim{value: number(group(digits), group(exponent)), places: places(group(digits)), percent: group(percentMark) != ""})
			clause.number(&found, signOf(group(sign), text[:at[0]]))
		}
	}
	return found
}

// signOf returns −1, 1, or 0 if there is no sign. A dash after a letter, a digit or a
// bracket is not a sign, as in 120-137.
func signOf(sign, before string) int {
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case sign == "":
		return 0
	case sign == "+":
		return 1
	case unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')':
		return 0
	}
	return -1
}

// number parses digits exactly. It returns nil for more than 32 characters and for
// numbers with an exponent.
func number(digits, exponent string) *big.Rat {
	const most = 32
	if len(digits) > most || exponent != "" {
		return nil
	}
	value, ok := new(big.Rat).SetString(strings.ReplaceAll(digits, ",", ""))
	if !ok {
		return nil
	}
	return value
}

// places returns the number of decimals.
func places(digits string) int {
	_, fraction, _ := strings.Cut(digits, ".")
	return len(fraction)
}

// A clause is the state of reading a clause.
type clause struct {
	direction int        // of the last word that has one, else 0
	unsigned  []*big.Rat // numbers before the first such word
}

// end starts a new clause. Numbers of the old one without a sign are positive.
func (c *clause) end() { *c = clause{} }

// word handles a lower-case word.
func (c *clause) word(word string) {
	if startsClause(word) {
		c.end()
		return
	}
	direction := directionOf(word)
	if direction == 0 {
		return
	}
	c.direction = direction
	for _, value := range c.unsigned {
		applySign(value, direction)
	}
	c.unsigned = nil
}

// number sets the sign of the last claim.
func (c *clause) number(found *[]claim, sign int) {
	value := (*found)[len(*found)-1].value
	switch {
	case value == nil:
	case sign != 0:
		applySign(value, sign)
	case c.direction != 0:
		applySign(value, c.direction)
	default:
		c.unsigned = append(c.unsigned, value)
	}
}

// applySign negates the value if the direction is negative.
func applySign(value *big.Rat, direction int) {
	if direction < 0 {
		value.Neg(value)
	}
}

// startsClause reports whether the word starts a new clause.
func startsClause(word string) bool {
	switch word {
	case "and", "but", "while", "whereas", "so", "thus", "hence", "versus", "vs", "against", "than":
		return true
	}
	return false
}

// directionOf returns −1 for a word that means less, 1 for one that means more, else
// 0.
func directionOf(word string) int {
	switch word {
	case "fell", "fall", "falls", "fallen", "falling", "drop", "drops", "dropped", "decline", "declines", "declined", "decrease", "decreases",
		"decreased", "lose", "loses", "lost", "loss", "slid", "slipped", "sank", "shed", "plunged", "tumbled", "slumped",
		"down", "lower", "below", "less", "under", "behind", "minus", "negative":
		return -1
	case "rose", "rise", "rises", "risen", "rising", "gain", "gains", "gained", "increase", "increases", "increased", "grew", "growth",
		"climbed", "jumped", "surged", "soared", "rallied", "advanced", "added",
		"up", "higher", "above", "more", "over", "ahead", "plus", "positive":
		return 1
	}
	return 0
}
