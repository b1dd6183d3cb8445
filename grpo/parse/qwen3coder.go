package parse

import "strings"

// Qwen3-Coder: XML-like blocks whose values are raw text, typed by the schema,
//
//	<tool_call>
//	<function=f>
//	<parameter=a>
//	1
//	</parameter>
//	</function>
//	</tool_call>
//
// One newline behind an opener and one before a closer belong to the markup.
// No entity is decoded: the templates do not escape.
func qwen3CoderForm() form {
	return form{opens: tokenSet(tagToolCall, tagFunctionEquals), read: (*scan).qwen3Coder, render: renderQwen3Coder}
}

const (
	functionOpen   = "<function="
	functionClose  = "</function>"
	parameterOpen  = "<parameter="
	parameterClose = "</parameter>"
	toolCallOpen   = "<tool_call>"
	toolCallClose  = "</tool_call>"
)

func (s *scan) qwen3Coder(m mark) bool {
	if m.token == tagFunctionEquals {
		return s.orphanFunction(m)
	}
	at := s.skipBlanks(m.end)
	switch {
	case s.hasAt(at, parameterOpen):
		end := s.end
		if c := s.find(toolCallClose, at); c >= 0 {
			end = c + len(toolCallClose)
		}
		s.lose(m.at, end, StatusMalformed, DefectWrongWrapper)
		return true
	case !s.hasAt(at, functionOpen):
		return false
	}
	first, start := len(s.attempts), m.at
	for s.hasAt(at, functionOpen) {
		if !s.afford() {
			return true
		}
		end, ok := s.function(start, at)
		if !ok {
			return true
		}
		at = s.skipBlanks(end)
		start = at
	}
	if len(s.attempts) > first+1 {
		s.mark(first, DefectSeveralInTag)
	}
	s.closeWrapper(at, toolCallClose)
	return true
}

// orphanFunction reads a block whose <tool_call> is missing. It counts when it
// is closed and names a declared tool.
func (s *scan) orphanFunction(m mark) bool {
	name, _, ok := s.attribute(m.end)
	if !ok || name == "" || !s.isDeclared(name) && s.find(functionClose, m.end) < 0 {
		return false
	}
	end, ok := s.function(m.at, m.at)
	if !ok {
		return true
	}
	last := &s.attempts[len(s.attempts)-1]
	if last.Status == StatusOK && !s.isDeclared(last.Name) {
		last.fail(StatusMalformed, DefectMissingOpenTag)
	}
	last.Defects = with(last.Defects, DefectMissingOpenTag)
	s.closeWrapper(end, toolCallClose)
	return true
}

// function reads <function=NAME> up to its closer and adds the attempt. ok is
// false when the block is broken; it is then kept as lost.
func (s *scan) function(start, at int) (end int, ok bool) {
	name, next, ok := s.attribute(at + len(functionOpen))
	if !ok {
		s.unfinished(start, start+1, toolCallOpen, toolCallClose)
		return s.pos, false
	}
	inside, t := next, s.newTagged(name)
	for {
		switch next = s.skipBlanks(next); {
		case s.hasAt(next, functionClose):
			end = next + len(functionClose)
			a := t.attempt(name, s.text[inside:next], Span{start, end})
			s.add(&a)
			return end, true
		case s.hasAt(next, parameterOpen):
			if next, ok = s.parameter(next, t); !ok {
				s.unfinished(start, start+1, toolCallOpen, toolCallClose)
				return s.pos, false
			}
		case next >= s.end || s.hasAt(next, toolCallClose) || s.hasAt(next, toolCallOpen) || s.partial(next, functionClose, parameterOpen):
			s.unfinished(start, start+1, toolCallOpen, toolCallClose)
			return s.pos, false
		default:
			s.strangeBlock(start, next, toolCallClose)
			return s.pos, false
		}
	}
}

// partial reports whether the text is cut inside one of the words.
func (s *scan) partial(at int, words ...string) bool {
	rest := s.text[at:s.end]
	for _, word := range words {
		if len(rest) < len(word) && word[:len(rest)] == rest {
			return true
		}
	}
	return false
}

// strangeBlock keeps a block that holds something else than its form allows.
func (s *scan) strangeBlock(start, at int, closer string) {
	end := s.nextMarkOffset(at)
	if c := s.find(closer, at); c >= 0 && c <= end {
		end = c + len(closer)
	}
	s.lose(start, end, StatusMalformed, DefectUnknownEnvelope)
}

// parameter reads <parameter=KEY> and its value; ok is false when it never ends.
func (s *scan) parameter(at int, t *tagged) (next int, ok bool) {
	key, from, ok := s.attribute(at + len(parameterOpen))
	if !ok {
		return 0, false
	}
	end, next := s.parameterEnd(from)
	if end < 0 {
		return 0, false
	}
	if next == end {
		t.defects = with(t.defects, DefectMissingCloseTag)
	}
	t.add(key, trimOneNewline(s.text[from:end]))
	return next, true
}

// parameterEnd finds the end of a value and what follows its closer. Values are
// raw, so the first closer ends them; where that is missing, the next
// parameter's opener at the start of a line or the function's own closer does,
// and next equals end.
func (s *scan) parameterEnd(from int) (end, next int) {
	p, f := s.find(parameterClose, from), s.find(functionClose, from)
	switch {
	case f >= 0 && (p < 0 || f < p && s.endsFunction(f)):
		end, next = f, f
	case p >= 0:
		end, next = p, p+len(parameterClose)
	default:
		return -1, -1
	}
	if n := s.find(parameterOpen, from); n >= from && n < end && (n == from || s.text[n-1] == '\n') {
		return n, n
	}
	return end, next
}

// endsFunction reports whether a function's closer is followed by what may
// follow it; otherwise it is part of a value that quotes it.
func (s *scan) endsFunction(at int) bool {
	next := s.skipBlanks(at + len(functionClose))
	return next >= s.end || s.hasAt(next, toolCallClose) || s.hasAt(next, functionOpen) || s.hasAt(next, toolCallOpen)
}

func renderQwen3Coder(calls []renderable) (string, error) {
	var b strings.Builder
	for i, c := range calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("<tool_call>\n<function=" + c.name + ">\n")
		for _, m := range c.members {
			value := m.text()
			if containsAny(value+">", parameterClose, functionClose, parameterOpen) || strings.HasSuffix(value, "\r") ||
				strings.ContainsAny(m.Key, ">\n") || strings.TrimSpace(m.Key) != m.Key {
				return "", c.unwritable(m.Key)
			}
			b.WriteString("<parameter=" + m.Key + ">\n" + value + "\n</parameter>\n")
		}
		b.WriteString("</function>\n</tool_call>")
	}
	return b.String(), nil
}
