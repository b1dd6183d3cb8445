package parse

import (
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// Call expressions, f(a=1, b="x"), are read with literals only and never
// evaluated.

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// expressionName returns the name of the call expression at an offset, or
// nothing where none stands.
func (s *scan) expressionName(at int) string {
	end := at
	for end < s.end && isNameByte(s.text[end]) {
		end++
	}
	s.budget.search(end - at)
	if end == at || !s.hasAt(end, "(") || s.text[at] >= '0' && s.text[at] <= '9' {
		return ""
	}
	return s.text[at:end]
}

// expression is a call expression that is being read.
type expression struct {
	cursor
	value map[string]any
	json  []byte
	mends strictjson.Mends
}

// callExpression reads the call expression at an offset. The error's offset is
// relative to it.
func (s *scan) callExpression(at int) (Attempt, *strictjson.Error) {
	name := s.expressionName(at)
	e := expression{cursor: cursor{s: s, at: at + len(name), start: at}, value: map[string]any{}, json: []byte{'{'}}
	if name == "" {
		for e.at < s.end && isNameByte(s.text[e.at]) {
			e.at++
		}
		return Attempt{}, e.due("a call")
	}
	e.at++
	inside := e.at
	for e.at = s.skipBlanks(e.at); !s.hasAt(e.at, ")"); {
		if err := e.argument(); err != nil {
			return Attempt{}, err
		}
	}
	e.at++
	a := Attempt{Name: name, Value: e.value, Arguments: append(e.json, '}'), Raw: s.text[inside : e.at-1], Span: Span{at, e.at}}
	a.Defects = with(a.Defects, mendDefects(e.mends&^(strictjson.MendPython|strictjson.MendComma))...)
	return a, nil
}

// argument reads key=literal and the comma behind it.
func (e *expression) argument() *strictjson.Error {
	s := e.s
	keyEnd := e.at
	for keyEnd < s.end && isNameByte(s.text[keyEnd]) {
		keyEnd++
	}
	s.budget.search(keyEnd - e.at)
	key := s.text[e.at:keyEnd]
	equals := s.skipBlanks(keyEnd)
	switch {
	case equals >= s.end:
		e.at = s.end
		return e.due("a keyword argument")
	case key == "" || s.text[equals] != '=':
		return e.fail(strictjson.Kind(DefectPositional), "a keyword argument is due")
	}
	if _, twice := e.value[key]; twice {
		return e.fail(strictjson.DuplicateKey, "the argument stands there twice")
	}
	e.at = s.skipBlanks(equals + 1)
	value, size, mends, err := s.reader.Limits.JSON.Literal(s.text[e.at:s.end])
	s.budget.decode(size)
	if failure, ok := errors.AsType[*strictjson.Error](err); ok {
		return &strictjson.Error{Kind: failure.Kind, Offset: e.at - e.start + failure.Offset, Message: failure.Message}
	}
	e.keep(key, value, mends)
	e.at = s.skipBlanks(e.at + size)
	if s.hasAt(e.at, ",") {
		e.at = s.skipBlanks(e.at + 1)
	} else if !s.hasAt(e.at, ")") {
		return e.due("a comma or a closing bracket")
	}
	if e.at >= s.end {
		return e.due("an argument")
	}
	return nil
}

func (e *expression) keep(key string, value any, mends strictjson.Mends) {
	if len(e.json) > 1 {
		e.json = append(e.json, ',')
	}
	e.json = append(strictjson.AppendString(e.json, key), ':')
	e.json = strictjson.Append(e.json, value)
	e.value[key] = value
	e.mends |= mends
}

// nextExpression adds the call expression at an offset, or keeps it as lost where
// it could not be read. start is where the attempt's span begins.
func (s *scan) nextExpression(start, at int, closer string) (end int, ok bool) {
	a, failure := s.callExpression(at)
	if failure != nil {
		s.broken(start, at, closer, failure)
		return s.pos, false
	}
	a.Span.Start = start
	s.add(&a)
	return a.Span.End, true
}

// callList reads [f(a=1), g()]. start is where the attempt's span begins. ok
// is false when one of the calls could not be read; it is then kept as lost.
func (s *scan) callList(start, at int, closer string) (end int, ok bool) {
	next := s.skipBlanks(at + 1)
	if s.hasAt(next, "]") {
		s.lose(start, next+1, StatusMissingName, DefectMissingName)
		return next + 1, true
	}
	for ; s.afford(); start = next {
		if end, ok = s.nextExpression(start, next, closer); !ok {
			return end, false
		}
		next = s.skipBlanks(end)
		if s.hasAt(next, ",") {
			next = s.skipBlanks(next + 1)
			if !s.hasAt(next, "]") && next < s.end {
				s.drop(next)
				continue
			}
		}
		if s.hasAt(next, "]") {
			s.afterLast(next + 1)
			return next + 1, true
		}
		s.mark(len(s.attempts)-1, DefectMissingBracket)
		return next, true
	}
	return s.pos, false
}

// afterLast lets the last attempt reach up to an offset.
func (s *scan) afterLast(end int) {
	last := &s.attempts[len(s.attempts)-1]
	last.Span.End = end
	s.consume(last.Span.Start, end)
	s.afterCall = len(s.segments)
}

// callLines reads call expressions, one a line, up to the closer or to
// anything else.
func (s *scan) callLines(start, at int, closer string) (end int, ok bool) {
	for ; s.afford(); start = at {
		if end, ok = s.nextExpression(start, at, closer); !ok {
			return end, false
		}
		next := s.skipBlanks(end)
		if s.expressionName(next) == "" {
			return end, true
		}
		if !strings.Contains(s.text[end:next], "\n") {
			s.mark(len(s.attempts)-1, DefectSeparator)
		}
		at = next
	}
	return s.pos, false
}

// allDeclared reports whether all attempts from an index on are calls of
// declared tools.
func (s *scan) allDeclared(from int) bool {
	for _, a := range s.attempts[from:] {
		if a.Status != StatusOK || !s.isDeclared(a.Name) {
			return false
		}
	}
	return true
}
