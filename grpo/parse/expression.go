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

// Pythonic (Llama 3.2, ToolACE) and Llama 4: the content is
//
//	[f(a=1, b="x"), g()]
//
// with literals of Python or JSON. Llama 4 may put the list between
// <|python_start|> and <|python_end|>.
func pythonicForm() form {
	return form{start: (*scan).pythonicStart, render: renderPythonic, calls: true}
}

func llama4Form() form {
	return form{opens: tokenSet(pipePythonStart), read: (*scan).callsBetween, start: (*scan).pythonicStart, render: renderPythonic, calls: true}
}

// pythonicStart reads a list where the content begins.
func (s *scan) pythonicStart(at int) bool {
	if !s.startsCalls(at) {
		return false
	}
	saved := *s
	end, ok := s.callList(at, at, "")
	if ok && !s.ends(end) && !s.allDeclared(0) {
		s.restore(&saved)
		return false
	}
	return true
}

// startsCalls reports a list whose first item looks like a call.
func (s *scan) startsCalls(at int) bool {
	return s.hasAt(at, "[") && s.expressionName(s.skipBlanks(at+1)) != ""
}

// callsBetween reads a list of calls between two tokens.
func (s *scan) callsBetween(m mark) bool {
	at := s.skipBlanks(m.end)
	first := len(s.attempts)
	var end int
	var ok bool
	switch {
	case s.startsCalls(at), s.hasAt(at, "[") && s.hasAt(s.skipBlanks(at+1), "]"):
		end, ok = s.callList(m.at, at, m.closer)
	case s.expressionName(at) != "":
		end, ok = s.callLines(m.at, at, m.closer)
		s.mark(first, DefectMissingArray)
	default:
		return false
	}
	if ok {
		s.closeWrapper(end, m.closer)
	}
	return true
}

// wholeCalls reads a list of declared calls that is the whole content of a
// family with another form.
func (s *scan) wholeCalls(at int) bool {
	if !s.startsCalls(at) {
		return false
	}
	saved := *s
	end, ok := s.callList(at, at, "")
	whole := ok && s.ends(end) && s.allDeclared(0)
	broken := !ok && s.isDeclared(s.expressionName(s.skipBlanks(at+1)))
	if !whole && !broken {
		s.restore(&saved)
		return false
	}
	s.callsWithoutWrapper(true)
	return true
}

// callsWithoutWrapper marks calls that are the whole content; a list of them
// is a form of its own under auto.
func (s *scan) callsWithoutWrapper(list bool) {
	if s.family == Auto {
		s.family = Pythonic
		if list {
			return
		}
	}
	s.mark(0, DefectMissingWrapper)
}

// bareLines reads call expressions, one a line, that are the whole content.
func (s *scan) bareLines(at int) bool {
	if s.family == Auto && s.glm40414Start(at) {
		s.family = GLM40414
		return true
	}
	if s.family == Auto && s.harmonyStripped(at) {
		return true
	}
	if !s.isDeclared(s.expressionName(at)) {
		return false
	}
	saved := *s
	end, ok := s.callLines(at, at, "")
	cut := !ok && (s.over || s.attempts[len(s.attempts)-1].Status == StatusTruncated)
	if !cut && (!ok || !s.ends(end) || !s.allDeclared(0)) {
		s.restore(&saved)
		return false
	}
	s.callsWithoutWrapper(false)
	return true
}

// trailingCalls finds a list of declared calls that is the last thing after
// prose.
func (s *scan) trailingCalls() bool {
	from := s.begin
	if n := len(s.reasoning); n > 0 {
		from = s.reasoning[n-1].End
	}
	for at := s.find("[", from); at >= 0; at = s.find("[", at+1) {
		if s.budget.exhausted() {
			s.giveUp(at, DefectTooMuchWork)
			return true
		}
		if !s.isDeclared(s.expressionName(s.skipBlanks(at + 1))) {
			continue
		}
		saved := *s
		s.segments, s.visible, s.shown = nil, false, from
		if end, ok := s.callList(at, at, ""); ok && s.ends(end) && s.allDeclared(0) {
			if formOf(s.family).start == nil {
				s.callsWithoutWrapper(true)
			}
			s.mark(0, DefectLeadingText)
			return true
		}
		if s.over {
			return true // there are more calls than are read
		}
		s.restore(&saved)
	}
	return false
}

func renderPythonic(calls []renderable) (string, error) {
	parts := make([]string, len(calls))
	for i, c := range calls {
		part, err := c.expression()
		if err != nil {
			return "", err
		}
		parts[i] = part
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
}

// LFM2: the pythonic list between two tokens,
//
//	<|tool_call_start|>[f(a=1), g()]<|tool_call_end|>
//
// Prose may stand on either side; the model's own template shows it behind.
func lfm2Form() form {
	return form{opens: tokenSet(pipeToolCallStart), read: (*scan).callsBetween, render: renderLFM2, calls: true, proseAfter: true}
}

func renderLFM2(calls []renderable) (string, error) {
	list, err := renderPythonic(calls)
	return "<|tool_call_start|>" + list + "<|tool_call_end|>", err
}

// OLMo 3: call expressions, one a line,
//
//	<function_calls>
//	f(a=1)
//	g()
//	</function_calls>
func olmo3Form() form {
	return form{opens: tokenSet(tagFunctionCalls), read: (*scan).olmo3, render: renderOlmo3, calls: true}
}

func (s *scan) olmo3(m mark) bool {
	at := s.skipBlanks(m.end)
	first := len(s.attempts)
	var end int
	var ok bool
	switch {
	case s.expressionName(at) != "":
		end, ok = s.callLines(m.at, at, m.closer)
	case s.startsCalls(at):
		end, ok = s.callList(m.at, at, m.closer)
		s.mark(first, DefectArrayInTag)
	default:
		return false
	}
	if ok {
		s.closeWrapper(end, m.closer)
	}
	return true
}

func renderOlmo3(calls []renderable) (string, error) {
	var b strings.Builder
	for _, c := range calls {
		line, err := c.expression()
		if err != nil {
			return "", err
		}
		b.WriteString(line + "\n")
	}
	return "<function_calls>\n" + b.String() + "</function_calls>", nil
}
