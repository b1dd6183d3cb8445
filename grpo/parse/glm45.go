package parse

import "strings"

// GLM 4.5 and later: the name, then keys and values between tags, typed by the
// schema,
//
//	<tool_call>f
//	<arg_key>a</arg_key>
//	<arg_value>1</arg_value>
//	</tool_call>
//
// The name is delimited by markup, so blanks around it are no part of it.
func glm45Form() form {
	return form{opens: tokenSet(tagToolCall, tagArgKey), read: (*scan).glm45, render: renderGLM45}
}

const (
	argKeyOpen    = "<arg_key>"
	argKeyClose   = "</arg_key>"
	argValueOpen  = "<arg_value>"
	argValueClose = "</arg_value>"
)

func (s *scan) glm45(m mark) bool {
	if m.token == tagArgKey {
		return s.orphanArguments(m)
	}
	name, next, ok := s.glmName(m.end)
	if !ok {
		return false
	}
	s.glmArguments(m.at, next, name, nil)
	return true
}

// glmName reads the name behind <tool_call>: one word, and then a key, the
// closer, or a new line with one of them.
func (s *scan) glmName(at int) (name string, next int, ok bool) {
	limit := min(s.end, at+maxHeader)
	head := s.text[at:limit]
	if i := strings.IndexByte(head, '<'); i >= 0 {
		head = head[:i]
	}
	s.budget.search(len(head))
	name = strings.TrimSpace(head)
	next = s.skipBlanks(at + len(head))
	closed := s.hasAt(next, argKeyOpen) || s.hasAt(next, toolCallClose)
	cut := s.cutOff && (next >= s.end || s.partial(next, argKeyOpen, toolCallClose))
	if strings.ContainsAny(name, " \n\t{[\"'(") || !closed && !cut && (next < s.end || !s.isDeclared(name)) {
		return "", 0, false
	}
	if s.hasAt(next, argKeyOpen) || cut || s.isDeclared(name) {
		return name, next, true
	}
	// A tag in prose has blanks around the word between opener and closer.
	return name, next, name != "" && s.family == GLM45 && !isBlank(s.text[at])
}

// orphanArguments reads a block whose <tool_call> is missing: the name is the
// line before the first key, and must be declared.
func (s *scan) orphanArguments(m mark) bool {
	from := max(s.shown, m.at-maxHeader)
	end := from + len(strings.TrimRight(s.text[from:m.at], " \n\r\t"))
	start := end
	for start > from && s.text[start-1] != '\n' && (end-start <= s.reader.longest || isBlank(s.text[start-1])) {
		start--
	}
	s.budget.search(m.at - start)
	if start > s.shown && s.text[start-1] != '\n' {
		return false // the line is longer than any name
	}
	name := strings.TrimSpace(s.text[start:m.at])
	if !s.isDeclared(name) {
		return false
	}
	s.glmArguments(start, m.at, name, []Defect{DefectMissingOpenTag})
	return true
}

// glmArguments reads keys and values up to the closer and adds the attempt.
func (s *scan) glmArguments(start, at int, name string, defects []Defect) {
	inside, t := at, s.newTagged(name)
	t.defects = defects
	for next := at; ; {
		switch next = s.skipBlanks(next); {
		case s.hasAt(next, toolCallClose):
			a := t.attempt(name, s.text[inside:next], Span{start, next + len(toolCallClose)})
			s.add(&a)
			return
		case s.hasAt(next, argKeyOpen):
			var ok bool
			if next, ok = s.glmArgument(next, t); !ok {
				s.unfinished(start, start+1, toolCallOpen, toolCallClose)
				return
			}
		case next >= s.end || s.partial(next, toolCallClose, argKeyOpen):
			s.unfinished(start, start+1, toolCallOpen, toolCallClose)
			return
		default:
			s.strangeBlock(start, next, toolCallClose)
			return
		}
	}
}

// glmArgument reads one key and its value; ok is false when they never end.
func (s *scan) glmArgument(at int, t *tagged) (next int, ok bool) {
	from := at + len(argKeyOpen)
	end := s.find(argKeyClose, from)
	if end < 0 {
		return 0, false
	}
	key := strings.TrimSpace(s.text[from:end])
	next = s.skipBlanks(end + len(argKeyClose))
	if !s.hasAt(next, argValueOpen) {
		return 0, false
	}
	from = next + len(argValueOpen)
	end = s.find(argValueClose, from)
	if c := s.find(toolCallClose, from); c >= 0 && (end < 0 || c < end && s.endsBlock(c)) {
		t.defects = with(t.defects, DefectMissingCloseTag)
		end, next = c, c
	} else if end >= 0 {
		next = end + len(argValueClose)
	} else {
		return 0, false
	}
	t.add(key, s.text[from:end])
	return next, true
}

// endsBlock reports whether the closer at an offset is followed by another
// call or by the end of the text, and so is not quoted in a value.
func (s *scan) endsBlock(at int) bool {
	next := s.skipBlanks(at + len(toolCallClose))
	return next >= s.end || s.hasAt(next, toolCallOpen)
}

func renderGLM45(calls []renderable) (string, error) {
	var b strings.Builder
	for i, c := range calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(toolCallOpen + c.name + "\n")
		for _, m := range c.members {
			value := m.text()
			if containsAny(value, argValueClose, toolCallClose) || strings.TrimSpace(m.Key) != m.Key || strings.Contains(m.Key, argKeyClose) {
				return "", c.unwritable(m.Key)
			}
			b.WriteString(argKeyOpen + m.Key + argKeyClose + "\n" + argValueOpen + value + argValueClose + "\n")
		}
		b.WriteString(toolCallClose)
	}
	return b.String(), nil
}
