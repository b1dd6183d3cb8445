package calculator

import (
	"context"
	"encoding/json"
	"math/big"
	"unicode/utf8"

	"toolgym/tools"
)

// The limits of an expression.
const (
	mostLetters = 512
	mostDepth   = 64
	mostDigits  = 64
	mostExp     = 1300 // of a literal like 1e6; no result has a larger one
)

type expression struct {
	Expression string `json:"expression" jsonschema:"minLength=1,maxLength=512,description=For example (4*2+7)/3. Operators: + - * / % (remainder) ^ (power) and brackets."`
}

type result struct {
	Result json.Number `json:"result"`
}

// Tool makes the calculator tool. It keeps no state and can be offered by any
// environment.
func Tool() tools.Tool {
	return tools.New("calculator", "Evaluates an arithmetic expression exactly.",
		func(_ context.Context, in expression) (result, error) {
			n, err := Evaluate(in.Expression)
			return result{n}, err
		})
}

// Evaluate computes an expression of + - * / % ^, brackets and decimal numbers
// in exact rationals. ^ binds tightest and to the right, then the unary signs,
// then * / %, then + -; the remainder has the sign of the dividend; × ÷ − stand
// for * / -. A value whose decimals do not end is rounded half to even at 12
// significant digits. What cannot be computed, or would take too much, is an
// error made by [tools.Mistakef].
func Evaluate(expression string) (json.Number, error) {
	if len(expression) > 4*mostLetters || utf8.RuneCountInString(expression) > mostLetters {
		return "", tools.Mistakef("the expression is too long: at most %d characters", mostLetters)
	}
	p := &parser{text: []rune(expression)}
	value, err := p.sum()
	if err != nil {
		return "", err
	}
	if p.peek() != end {
		return "", p.unexpected("an operator")
	}
	return Decimal(value), nil
}

// end is what peek returns behind the last letter.
const end = -1

// parser reads an expression by recursive descent and computes as it goes.
type parser struct {
	text  []rune
	at    int
	depth int
}

// peek skips blanks and returns the next letter, its look-alike spelt plainly.
func (p *parser) peek() rune {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n' || p.text[p.at] == '\r') {
		p.at++
	}
	if p.at == len(p.text) {
		return end
	}
	switch p.text[p.at] {
	case '×':
		return '*'
	case '÷':
		return '/'
	case '−':
		return '-'
	}
	return p.text[p.at]
}

// unexpected says what stands where something else was wanted.
func (p *parser) unexpected(want string) error {
	if p.peek() == end {
		return tools.Mistakef("the expression ends where %s should follow", want)
	}
	return tools.Mistakef("unexpected %q at character %d, where %s should stand", p.text[p.at], p.at+1, want)
}

// deeper guards the recursion: every bracket, sign and power is one level.
func (p *parser) deeper(read func() (*big.Rat, error)) (*big.Rat, error) {
	if p.depth == mostDepth {
		return nil, tools.Mistakef("the expression is nested too deeply: at most %d levels", mostDepth)
	}
	p.depth++
	value, err := read()
	p.depth--
	return value, err
}

// sum reads product {(+|-) product}.
func (p *parser) sum() (*big.Rat, error) {
	value, err := p.product()
	for err == nil {
		operator := p.peek()
		if operator != '+' && operator != '-' {
			return value, nil
		}
		p.at++
		var right *big.Rat
		if right, err = p.product(); err == nil {
			value, err = combine(operator, value, right)
		}
	}
	return nil, err
}

// product reads signed {(*|/|%) signed}.
func (p *parser) product() (*big.Rat, error) {
	value, err := p.signed()
	for err == nil {
		operator := p.peek()
		if operator != '*' && operator != '/' && operator != '%' {
			return value, nil
		}
		p.at++
		var right *big.Rat
		if right, err = p.signed(); err == nil {
			value, err = combine(operator, value, right)
		}
	}
	return nil, err
}

// signed reads {-|+} power.
func (p *parser) signed() (*big.Rat, error) {
	sign := p.peek()
	if sign != '-' && sign != '+' {
		return p.power()
	}
	p.at++
	value, err := p.deeper(p.signed)
	if err == nil && sign == '-' {
		value = new(big.Rat).Neg(value)
	}
	return value, err
}

// power reads atom [^ signed], so that 2^3^2 is 2^9 and 2^-1 is a half.
func (p *parser) power() (*big.Rat, error) {
	base, err := p.atom()
	if err != nil || p.peek() != '^' {
		return base, err
	}
	p.at++
	exponent, err := p.deeper(p.signed)
	if err != nil {
		return nil, err
	}
	return raise(base, exponent)
}

// atom reads a number or a bracket.
func (p *parser) atom() (*big.Rat, error) {
	letter := p.peek()
	switch {
	case letter >= '0' && letter <= '9' || letter == '.':
		return p.number()
	case letter != '(':
		return nil, p.unexpected("a number or a bracket")
	}
	p.at++
	value, err := p.deeper(p.sum)
	if err != nil {
		return nil, err
	}
	if p.peek() != ')' {
		return nil, p.unexpected("an operator or )")
	}
	p.at++
	return value, nil
}
