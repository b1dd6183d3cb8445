package tools

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pattern is a compiled regular expression and the number of instructions of
// its program, by which matching takes time.
type pattern struct {
	*regexp.Regexp

	program int
}

// patterns compiles the regular expressions of one schema, equal ones once. A
// few bytes may ask for a program of any size, such as (x{1000}){1000}, so that
// the size is known before a program is made.
type patterns struct {
	known   map[string]*pattern
	program int         // instructions of all
	refused *Error      // the first that is too large
	sealed  atomic.Bool // the schema is compiled: values are only looked at
}

// compile is a [jsonschema.RegexpEngine]. The validator calls it for values of
// the format "regex" as well, at any time and from many goroutines.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if p.sealed.Load() {
		_, err := PatternSize(text)
		return nil, err
	}
	if known := p.known[text]; known != nil {
		return known, nil
	}
	size, err := PatternSize(text)
	if p.program += size; err == nil && p.program > maxProgram {
		err = tooMuch("/parameters", fmt.Sprintf("the patterns of the schema need more than %d instructions", maxProgram), maxProgram)
	}
	if err != nil {
		if tooLarge, ok := errors.AsType[*Error](err); ok && p.refused == nil {
			p.refused = tooLarge
		}
		return nil, err
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p.known[text] = &pattern{compiled, size}
	return p.known[text], nil
}

// PatternSize estimates, from above, how many instructions a regular expression
// compiles to, without compiling it. A text that is none, or that is longer than a
// pattern of a schema may be, is an error.
func PatternSize(text string) (int, error) {
	if len(text) > maxPatternText {
		return 0, tooMuch("/parameters", fmt.Sprintf("a pattern has %d bytes", len(text)), maxPatternText)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return instructions(parsed), nil
}

// instructions counts those of a part. [syntax.Parse] bounds how deep parts are
// nested and how often they are repeated, so that the sum stays small.
func instructions(re *syntax.Regexp) int {
	n := 2
	for _, part := range re.Sub {
		n += instructions(part)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpCharClass:
		n += len(re.Rune) / 16 // ranges are shared by copies and searched by halves
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max) + 1
	}
	return n
}
