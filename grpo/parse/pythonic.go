package parse

import "strings"

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
