package calculator

import (
	"encoding/json"
	"math/big"
	"strconv"

	"toolgym/tools"
)

// mostBits bounds the numerator and the denominator of every value.
const mostBits = 4096

// Exact reads a number without rounding. What tools let through is short enough
// to be held; what is larger than any result may be is the agent's mistake.
func Exact(n json.Number) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil, tools.Mistakef("%s is no number", n)
	}
	return Bounded(r)
}

// Bounded refuses values that would grow without end.
func Bounded(r *big.Rat) (*big.Rat, error) {
	if r.Num().BitLen() > mostBits || r.Denom().BitLen() > mostBits {
		return nil, tools.Mistakef("the number is too large: numerator and denominator may take %d bits each", mostBits)
	}
	return r, nil
}

// Divide computes a / b.
func Divide(a, b *big.Rat) (*big.Rat, error) {
	if b.Sign() == 0 {
		return nil, tools.Mistakef("division by zero: the divisor must not be 0")
	}
	return Bounded(new(big.Rat).Quo(a, b))
}

// How values are written: significant digits where they are rounded, and the
// most decimals that are written out, which are as many as an argument may have.
const (
	significant = 12
	mostPlaces  = 1000
)

// Decimal writes a value in full where its decimals end, and otherwise rounded
// half to even at 12 significant digits.
func Decimal(r *big.Rat) json.Number {
	if places, ends := r.FloatPrec(); ends && places <= mostPlaces {
		return json.Number(r.FloatString(places))
	}
	// The middle between two decimals of 12 digits, on which the value cannot
	// lie since it does not end, is further off than 2^-(its bits + 40) of it.
	bits := max(r.Num().BitLen(), r.Denom().BitLen())
	f := new(big.Float).SetPrec(uint(bits) + 64).SetRat(r)
	return json.Number(f.Text('g', significant))
}

// number reads digits, a fraction and an exponent: 12, .5, 1.25e-3.
func (p *parser) number() (*big.Rat, error) {
	start := p.at
	digits := p.digits()
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		digits += p.digits()
	}
	if digits == 0 {
		return nil, p.unexpected("a digit")
	}
	if digits > mostDigits {
		return nil, tools.Mistakef("the number at character %d is too long: at most %d digits", start+1, mostDigits)
	}
	if err := p.exponent(); err != nil {
		return nil, err
	}
	value, ok := new(big.Rat).SetString(string(p.text[start:p.at]))
	if !ok {
		return nil, tools.Mistakef("%s is no number", string(p.text[start:p.at]))
	}
	return Bounded(value)
}

// digits passes over a run of digits and returns its length.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// exponent passes over e or E, a sign and digits, if they are there.
func (p *parser) exponent() error {
	if p.at == len(p.text) || p.text[p.at] != 'e' && p.text[p.at] != 'E' {
		return nil
	}
	p.at++
	if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
		p.at++
	}
	start := p.at
	if p.digits() == 0 {
		return p.unexpected("the digits of an exponent")
	}
	if n, err := strconv.Atoi(string(p.text[start:p.at])); err != nil || n > mostExp {
		return tools.Mistakef("the exponent at character %d is too large: at most %d", start+1, mostExp)
	}
	return nil
}

// combine computes a ∘ b for one of + - * / %.
func combine(operator rune, a, b *big.Rat) (*big.Rat, error) {
	switch operator {
	case '+':
		return Bounded(new(big.Rat).Add(a, b))
	case '-':
		return Bounded(new(big.Rat).Sub(a, b))
	case '*':
		return Bounded(new(big.Rat).Mul(a, b))
	case '/':
		return Divide(a, b)
	default:
		return remainder(a, b)
	}
}

// remainder computes a − b·trunc(a/b), which has the sign of a.
func remainder(a, b *big.Rat) (*big.Rat, error) {
	quotient, err := Divide(a, b)
	if err != nil {
		return nil, err
	}
	whole := new(big.Rat).SetInt(new(big.Int).Quo(quotient.Num(), quotient.Denom()))
	return Bounded(new(big.Rat).Sub(a, whole.Mul(whole, b)))
}

// raise computes base^exponent for whole exponents; 0^0 is 1. It refuses what
// would be too large before it computes anything.
func raise(base, exponent *big.Rat) (*big.Rat, error) {
	if !exponent.IsInt() {
		return nil, tools.Mistakef("the exponent %s is not whole: roots are not computed", Decimal(exponent))
	}
	num, den, n := base.Num(), base.Denom(), new(big.Int).Abs(exponent.Num())
	if exponent.Sign() < 0 {
		if num.Sign() == 0 {
			return nil, tools.Mistakef("division by zero: 0 has no negative power")
		}
		// The sign goes along with what becomes the numerator.
		num, den = new(big.Int).Mul(den, big.NewInt(int64(num.Sign()))), new(big.Int).Abs(num)
	}
	if !holds(num, n) || !holds(den, n) {
		return nil, tools.Mistakef("the power is too large: numerator and denominator may take %d bits each", mostBits)
	}
	value := new(big.Rat).SetFrac(integerPower(num, n), integerPower(den, n))
	return Bounded(value)
}

// holds tells whether base^n can be within the limit: a number of k bits is at
// least 2^(k−1), so its power takes more than (k−1)·n bits.
func holds(base, n *big.Int) bool {
	bits := new(big.Int).Mul(big.NewInt(int64(base.BitLen()-1)), n)
	return base.BitLen() <= 1 || bits.Cmp(big.NewInt(mostBits)) < 0
}

// integerPower computes base^n. The bases 0, 1 and −1 may have a huge n.
func integerPower(base, n *big.Int) *big.Int {
	if base.BitLen() <= 1 && n.BitLen() > 1 {
		n = new(big.Int).Add(big.NewInt(2), new(big.Int).And(n, big.NewInt(1)))
	}
	return new(big.Int).Exp(base, n, nil)
}
