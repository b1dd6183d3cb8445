package research

import (
	"math/big"
	"slices"
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
