package calculator

import (
	"encoding/json"
	"math/big"
	"strconv"

	"toolgym/tools"
)

// maxBits is the maximum size of the numerator and of the denominator of a value.
const maxBits = 4096

// Exact parses a number without rounding. A number that exceeds the limit of
// [Bounded] is an error of [tools.Mistakef]. The caller limits the length of n and its
// exponent.
func Exact(n json.Number) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil, tools.Mistakef("%s is not a number", n)
	}
	return Bounded(r)
}

// Bounded returns r, or an error of [tools.Mistakef] if its numerator or denominator
// has more than 4,096 bits.
func Bounded(r *big.Rat) (*big.Rat, error) {
	if r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits {
		return nil, tools.Mistakef("the number is too large: numerator and denominator can have at most %d bits each", maxBits)
	}
	return r, nil
}

// Divide returns a / b.
func Divide(a, b *big.Rat) (*big.Rat, error) {
	if b.Sign() == 0 {
		return nil, tools.Mistakef("division by zero: the divisor must not be 0")
	}
	return Bounded(new(big.Rat).Quo(a, b))
}

// The number of significant digits of rounded values, and the maximum number of
// decimals of exact ones, which is the maximum of a tool's argument.
const (
	significant = 12
	maxDecimals = 1000
)

// Decimal formats a value. It is exact if it has at most 1,000 decimals, and otherwise
// rounded half to even at 12 significant digits.
func Decimal(r *big.Rat) json.Number {
	if places, ends := r.FloatPrec(); ends && places <= maxDecimals {
		return json.Number(r.FloatString(places))
	}
	// A value with infinite decimals is not the midpoint between two decimals of 12
	// digits; its relative distance from it is more than 2^-(bits + 40), so that 64
	// additional bits round it correctly. A value with more than 1,000 decimals can be
	// a midpoint, and may then be rounded to either neighbour.
	bits := max(r.Num().BitLen(), r.Denom().BitLen())
	f := new(big.Float).SetPrec(uint(bits) + 64).SetRat(r)
	return json.Number(f.Text('g', significant))
}

// number parses digits, a fraction and an exponent, such as 12, .5 or 1.25e-3.
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
	if digits > maxDigits {
		return nil, tools.Mistakef("the number at character %d is too long: at most %d digits", start+1, maxDigits)
	}
	if err := p.exponent(); err != nil {
		return nil, err
	}
	value, ok := new(big.Rat).SetString(string(p.text[start:p.at]))
	if !ok {
		return nil, tools.Mistakef("%s is not a number", string(p.text[start:p.at]))
	}
	return Bounded(value)
}

// digits skips digits and returns their number.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// exponent skips an exponent, if there is one.
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
	if n, err := strconv.Atoi(string(p.text[start:p.at])); err != nil || n > maxExponent {
		return tools.Mistakef("the exponent at character %d is too large: at most %d", start+1, maxExponent)
	}
	return nil
}

// combine returns a ∘ b for an operator + - * / %.
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

// remainder returns a − b·trunc(a/b), which has the sign of a.
func remainder(a, b *big.Rat) (*big.Rat, error) {
	quotient, err := Divide(a, b)
	if err != nil {
		return nil, err
	}
	whole := new(big.Rat).SetInt(new(big.Int).Quo(quotient.Num(), quotient.Denom()))
	return Bounded(new(big.Rat).Sub(a, whole.Mul(whole, b)))
}

// pow returns base^exponent for integer exponents; 0^0 is 1. It rejects results that
// are too large before it computes them.
func pow(base, exponent *big.Rat) (*big.Rat, error) {
	if !exponent.IsInt() {
		return nil, tools.Mistakef("the exponent %s is not an integer", Decimal(exponent))
	}
	num, den, n := base.Num(), base.Denom(), new(big.Int).Abs(exponent.Num())
	if exponent.Sign() < 0 {
		if num.Sign() == 0 {
			return nil, tools.Mistakef("division by zero: 0 to a negative power")
		}
		// The new numerator gets the sign.
		num, den = new(big.Int).Mul(den, big.NewInt(int64(num.Sign()))), new(big.Int).Abs(num)
	}
	if !fits(num, n) || !fits(den, n) {
		return nil, tools.Mistakef("the power is too large: numerator and denominator can have at most %d bits each", maxBits)
	}
	value := new(big.Rat).SetFrac(integerPower(num, n), integerPower(den, n))
	return Bounded(value)
}

// fits reports whether base^n can have at most maxBits bits. A number of k bits is at
// least 2^(k−1), so that its power has more than (k−1)·n bits.
func fits(base, n *big.Int) bool {
	bits := new(big.Int).Mul(big.NewInt(int64(base.BitLen()-1)), n)
	return base.BitLen() <= 1 || bits.Cmp(big.NewInt(maxBits)) < 0
}

// integerPower returns base^n. For the bases 0, 1 and −1, n can be huge.
func integerPower(base, n *big.Int) *big.Int {
	if base.BitLen() <= 1 && n.BitLen() > 1 {
		n = new(big.Int).Add(big.NewInt(2), new(big.Int).And(n, big.NewInt(1)))
	}
	return new(big.Int).Exp(base, n, nil)
}
