package parse

import "strings"

// Mistral:
//
//	[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]
//
// and from tokenizer v11 on, repeated for parallel calls,
//
//	[TOOL_CALLS]f[ARGS]{"a": 1}
//
// with [CALL_ID] and an identifier before [ARGS] in some versions.
func mistralForm() form {
	return form{opens: tokenSet(bracketToolCalls), read: (*scan).mistral, render: renderMistral}
}

func (s *scan) mistral(m mark) bool {
	at := s.skipBlanks(m.end)
	if s.hasAt(at, "[") || s.hasAt(at, "{") || s.hasAt(at, "```") {
		return s.payload(wrapper{at: m.at, body: m.end, list: true, style: style{native: ",id,", tagged: true}})
	}
	return s.namedObject(m, at)
}

// namedObject reads f[ARGS]{…}.
func (s *scan) namedObject(m mark, at int) bool {
	brace := s.find("{", at)
	if brace < 0 || brace-at > maxHeader {
		return s.cutHeader(m, at)
	}
	header := s.text[at:brace]
	if strings.ContainsAny(strings.TrimSpace(header), "\n\"(") {
		return false
	}
	var defects []Defect
	name, marked := strings.CutSuffix(strings.TrimSpace(header), "[ARGS]")
	if !marked {
		defects = []Defect{DefectSeparator}
	}
	name, id, _ := strings.Cut(name, "[CALL_ID]")
	s.argumentsOf(m.at, brace, strings.TrimSpace(name), id, "", defects)
	return true
}

// cutHeader keeps a call that the token limit cut off before its arguments.
func (s *scan) cutHeader(m mark, at int) bool {
	if !s.cutOff || s.end-at > maxHeader || s.nextMarkOffset(at) < s.end {
		return false
	}
	s.lose(m.at, s.end, StatusTruncated, DefectTruncated)
	return true
}

// argumentsOf reads the object at an offset as the arguments of a call whose
// name stands before it, and adds the attempt. It answers whether the object
// could be decoded; the position is behind it then.
func (s *scan) argumentsOf(start, at int, name, id, closer string, defects []Defect) bool {
	members, end, mends, failure := s.decode(at)
	if failure != nil {
		s.broken(start, at, closer, failure)
		return false
	}
	a := Attempt{Status: StatusOK, Name: name, ID: id, Raw: s.text[at:end], Span: Span{start, end}, Defects: defects}
	a.takeArguments(members, mends)
	a.cutName()
	if a.Name == "" {
		a.fail(StatusMissingName, DefectMissingName)
	}
	s.add(&a)
	return true
}

// renderMistral writes the form of v11.
func renderMistral(calls []renderable) (string, error) {
	return renderEach(calls, "", func(c renderable) string { return "[TOOL_CALLS]" + c.name + "[ARGS]" + c.arguments }), nil
}
