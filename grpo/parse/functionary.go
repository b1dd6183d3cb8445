package parse

import "strings"

// Functionary v3: parts that start with their recipient,
//
//	>>>all
//	prose
//	>>>f
//	{"a": 1}
//
// The first >>> is often part of the prompt and may be missing.
func functionaryForm() form {
	return form{opens: tokenSet(chevrons), read: (*scan).functionary, start: (*scan).functionaryStart, render: renderFunctionary, proseAfter: true}
}

func (s *scan) functionary(m mark) bool {
	name, next, ok := s.recipient(m.end)
	switch {
	case s.asked != Functionary && (!ok || !s.isDeclared(name) || !s.hasAt(s.skipBlanks(next), "{")):
		return false // in another family, three chevrons are a quotation
	case !ok:
		return s.cutHeader(m, m.end)
	}
	return s.part(m.at, next, name)
}

// functionaryStart reads a first part whose >>> is missing.
func (s *scan) functionaryStart(at int) bool {
	name, next, ok := s.recipient(at)
	if !ok || !s.isDeclared(name) && (name != "all" || at != s.skipBlanks(s.begin)) {
		return false
	}
	return s.part(at, next, name)
}

// recipient reads the word on the rest of a line.
func (s *scan) recipient(at int) (name string, next int, ok bool) {
	limit := min(s.end, at+maxHeader)
	line := strings.IndexByte(s.text[at:limit], '\n')
	if line < 0 {
		return "", 0, false
	}
	name = strings.TrimRight(s.text[at:at+line], " \r")
	return name, at + line + 1, name != "" && !strings.ContainsAny(name, " \t")
}

// part reads what follows a recipient: prose for all, arguments for a tool.
func (s *scan) part(start, at int, name string) bool {
	if name == "all" {
		s.consume(start, at)
		return true
	}
	brace := s.skipBlanks(at)
	if !s.hasAt(brace, "{") {
		end := s.find(">>>", at)
		switch {
		case brace >= s.end && s.cutOff:
			s.lose(start, s.end, StatusTruncated, DefectTruncated)
		case end < 0:
			s.lose(start, s.end, StatusMalformed, DefectUnknownEnvelope)
		default:
			s.lose(start, end, StatusMalformed, DefectUnknownEnvelope)
		}
		return true
	}
	if !s.argumentsOf(start, brace, name, "", "", nil) {
		return true
	}
	end := s.strayClosers(s.pos, ">>>")
	s.afterLast(end)
	if !s.ends(end) && !s.hasAt(s.skipBlanks(end), ">>>") {
		s.mark(len(s.attempts)-1, DefectTrailingText)
	}
	return true
}

func renderFunctionary(calls []renderable) (string, error) {
	return renderEach(calls, "\n", func(c renderable) string { return ">>>" + c.name + "\n" + c.arguments }), nil
}
