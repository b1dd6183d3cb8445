package research

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// answeredBy reports whether the text gives the right answer, and no other.
// Read are the percentages it states, or all of its numbers where it marks
// none. One of them must be the target within 0.01; each of the others must be
// a number that the way to the answer leads past, so that a list of guesses is
// no answer.
func (q question) answeredBy(text string, seen []*big.Rat) bool {
	if len(text) > mostText {
		return false
	}
	stated := claims(text)
	if slices.ContainsFunc(stated, func(c claim) bool { return c.percent }) {
		stated = slices.DeleteFunc(stated, func(c claim) bool { return !c.percent })
	}
	found, target, known := false, q.target(), append(q.steps(), seen...)
	for _, c := range stated {
		switch {
		case c.value == nil:
			return false
		case near(c.value, target):
			found = true
		case !q.onTheWay(c, known):
			return false
		}
	}
	return found
}

// near reports whether two values are at most 0.01 apart.
func near(a, b *big.Rat) bool {
	apart := new(big.Rat).Sub(a, b)
	return apart.Abs(apart).Cmp(big.NewRat(1, 100)) <= 0
}

// onTheWay reports whether a claim is the target rounded further or one of the
// known numbers. Only the target's sign counts.
func (q question) onTheWay(c claim, known []*big.Rat) bool {
	if rounded(q.value(), c.places).Cmp(c.value) == 0 {
		return true
	}
	size := new(big.Rat).Abs(c.value)
	return slices.ContainsFunc(known, func(value *big.Rat) bool {
		value = new(big.Rat).Abs(value)
		return near(value, size) || rounded(value, c.places).Cmp(size) == 0
	})
}

// steps are the numbers of the calculation 100·((after − before)/before): its
// constants (1 for those who write after/before − 1), the year, the differences,
// the fractions, and the changes where two of them are compared.
func (q question) steps() []*big.Rat {
	one, hundred := big.NewRat(1, 1), big.NewRat(100, 1)
	steps := []*big.Rat{one, hundred}
	for i := range q.reports {
		r := &q.reports[i]
		fraction := new(big.Rat).Quo(r.change(), hundred)
		steps = append(steps, big.NewRat(int64(r.quarter.year()), 1), big.NewRat(int64(r.after().cents-r.before().cents), 100),
			fraction, new(big.Rat).Add(fraction, one))
		if len(q.reports) > 1 {
			steps = append(steps, r.change())
		}
	}
	return steps
}

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
