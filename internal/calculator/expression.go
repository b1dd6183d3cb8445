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
	maxCharacters = 512
	maxDepth      = 64
	maxDigits     = 64
	maxExponent   = 1300 // of a literal such as 1e6; every result has a smaller one
)

type expression struct {
	Expression string `json:"expression" jsonschema:"minLength=1,maxLength=512,description=For example (4*2+7)/3. Operators: + - * / % (remainder) ^ (power) and brackets."`
}

type result struct {
	Result json.Number `json:"result"`
}

// Tool returns the calculator tool. It has no state.
func Tool() tools.Tool {
	return tools.New("calculator", "Evaluates an arithmetic expression exactly.",
		func(_ context.Context, in expression) (result, error) {
			n, err := Evaluate(in.Expression)
			return result{n}, err
		})
}

// Evaluate computes an expression of decimal numbers, brackets and + - * / % ^ with
// exact rational arithmetic. ^ has the highest precedence and is right-associative;
// then come the unary signs, then * / %, then + -. The remainder has the sign of the
// dividend. × ÷ − are read as * / -. For rounding see [Decimal]. An invalid
// expression, and one that exceeds a limit, is an error of [tools.Mistakef].
func Evaluate(expression string) (json.Number, error) {
	if len(expression) > 4*maxCharacters || utf8.RuneCountInString(expression) > maxCharacters {
		return "", tools.Mistakef("the expression is too long: at most %d characters", maxCharacters)
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

// end is the result of peek at the end of the text.
const end = -1

// parser parses and computes an expression by recursive descent.
type parser struct {
	text  []rune
	at    int
	depth int
}

// peek skips white space and returns the next character. For × ÷ − it returns * / -.
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

// unexpected returns the error for the next character.
func (p *parser) unexpected(expected string) error {
	if p.peek() == end {
		return tools.Mistakef("unexpected end of the expression; expected %s", expected)
	}
	return tools.Mistakef("unexpected %q at character %d; expected %s", p.text[p.at], p.at+1, expected)
}

// nested limits the recursion. Every bracket, sign and power is one level.
func (p *parser) nested(read func() (*big.Rat, error)) (*big.Rat, error) {
	if p.depth == maxDepth {
		return nil, tools.Mistakef("the expression is nested too deeply: at most %d levels", maxDepth)
	}
	p.depth++
	value, err := read()
	p.depth--
	return value, err
}

// sum parses product {(+|-) product}.
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

// product parses unary {(*|/|%) unary}.
func (p *parser) product() (*big.Rat, error) {
	value, err := p.unary()
	for err == nil {
		operator := p.peek()
		if operator != '*' && operator != '/' && operator != '%' {
			return value, nil
		}
		p.at++
		var right *big.Rat
		if right, err = p.unary(); err == nil {
			value, err = combine(operator, value, right)
		}
	}
	return nil, err
}

// unary parses {-|+} power.
func (p *parser) unary() (*big.Rat, error) {
	sign := p.peek()
	if sign != '-' && sign != '+' {
		return p.power()
	}
	p.at++
	value, err := p.nested(p.unary)
	if err == nil && sign == '-' {
		value = new(big.Rat).Neg(value)
	}
	return value, err
}

// power parses atom [^ unary], so that 2^3^2 is 2^9 and 2^-1 is 1/2.
func (p *parser) power() (*big.Rat, error) {
	base, err := p.atom()
	if err != nil || p.peek() != '^' {
		return base, err
	}
	p.at++
	exponent, err := p.nested(p.unary)
	if err != nil {
		return nil, err
	}
	return pow(base, exponent)
}

// atom parses a number or an expression in brackets.
func (p *parser) atom() (*big.Rat, error) {
	next := p.peek()
	switch {
	case next >= '0' && next <= '9' || next == '.':
		return p.number()
	case next != '(':
		return nil, p.unexpected("a number or a bracket")
	}
	p.at++
	value, err := p.nested(p.sum)
	if err != nil {
		return nil, err
	}
	if p.peek() != ')' {
		return nil, p.unexpected("an operator or )")
	}
	p.at++
	return value, nil
}
