package calculator

import (
	"encoding/json"
	"math/big"

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
	// The middle between two decimals of 12 digits, on which the value can not
	// lie since it does not end, is further off than 2^-(its bits + 40) of it.
	bits := max(r.Num().BitLen(), r.Denom().BitLen())
	f := new(big.Float).SetPrec(uint(bits) + 64).SetRat(r)
	return json.Number(f.Text('g', significant))
}
