package research

import (
	"math/big"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A claim is a number that a text states.
type claim struct {
	value   *big.Rat // nil when nobody could mean it: too many digits
	places  int      // decimals as written
	percent bool     // marked as a percentage or as percentage points
}

// mostText is how much of a message is read; an answer is short.
const mostText = 1 << 14

// lexeme finds, in this order: a date, a word (Q3 is one), a number with its
// sign and its percent mark, and what ends a clause.
var lexeme = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})` +
	`|(\pL[\pL\d]*)` +
	`|([-−–+]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)((?:[eE][-+]?\d+)?)([\s\x{A0}\x{202F}*_]*(?:\\?%|(?i:percent\b|per\s+cent\b|percentage[\s-]points?\b|pp\b)))?` +
	`|([.,;:!?()\n])`)

// The groups of lexeme.
const (
	calendar = 1 + iota
	word
	sign
	digits
	exponent
	percentMark
	stop
)

// claims reads the numbers of a text. A number without a sign takes it from the
// words of its clause: "fell by 3.52 %" is −3.52, as people mean it. The nearest
// word before the number decides, else the first one after it.
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
		case at[2*calendar] >= 0:
		case at[2*word] >= 0:
			clause.hear(strings.ToLower(group(word)))
		case at[2*stop] >= 0:
			clause.end()
		default:
			found = append(found, claim{value: number(group(digits), group(exponent)), places: places(group(digits)), percent: group(percentMark) != ""})
			clause.state(&found, signOf(group(sign), text[:at[0]]))
		}
	}
	return found
}

// signOf is −1, 1, or 0 without a sign. A dash behind a letter, a digit or a
// bracket joins, as in 120-137.
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

// number reads digits exactly; more than anyone would write give nil.
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

func places(digits string) int {
	_, fraction, _ := strings.Cut(digits, ".")
	return len(fraction)
}

// A clause keeps which way its words point, and the numbers that wait for one.
type clause struct {
	direction int
	waiting   []*big.Rat
}

// end begins a new clause; numbers that still wait are positive.
func (c *clause) end() { *c = clause{} }

func (c *clause) hear(word string) {
	if parts(word) {
		c.end()
		return
	}
	direction := directionOf(word)
	if direction == 0 {
		return
	}
	c.direction = direction
	for _, value := range c.waiting {
		turn(value, direction)
	}
	c.waiting = nil
}

// state gives the last claim its sign.
func (c *clause) state(found *[]claim, sign int) {
	value := (*found)[len(*found)-1].value
	switch {
	case value == nil:
	case sign != 0:
		turn(value, sign)
	case c.direction != 0:
		turn(value, c.direction)
	default:
		c.waiting = append(c.waiting, value)
	}
}

func turn(value *big.Rat, direction int) {
	if direction < 0 {
		value.Neg(value)
	}
}

// parts reports whether a new clause begins with the word.
func parts(word string) bool {
	switch word {
	case "and", "but", "while", "whereas", "so", "thus", "hence", "versus", "vs", "against", "than":
		return true
	}
	return false
}

// directionOf is −1 for words of falling, 1 for words of rising, else 0.
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
