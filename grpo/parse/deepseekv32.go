package parse

import (
	"strconv"
	"strings"

	"toolgym/internal/strictjson"
)

// DeepSeek V3.2 (DSML): blocks in which every parameter says whether it is text
// or JSON,
//
//	<｜DSML｜tool_calls>
//	<｜DSML｜invoke name="f">
//	<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>
//	</｜DSML｜invoke>
//	</｜DSML｜tool_calls>
//
// The outer block is also called function_calls.
func deepSeekV32Form() form {
	return form{opens: tokenSet(dsmlCalls, dsmlInvoke), read: (*scan).dsml, render: renderDSML}
}

func (s *scan) dsml(m mark) bool {
	first, at, start, exact := len(s.attempts), m.end, m.at, m.exact
	if m.token == dsmlInvoke {
		at = m.at
	}
	for {
		next := s.skipBlanks(at)
		name, size, same := dsmlTag(s.text[next:s.end])
		if name != "invoke" || !s.afford() {
			break
		}
		exact = exact && same
		at = s.dsmlInvoke(max(start, s.shown), next, size)
		start = at
	}
	if len(s.attempts) == first {
		return s.cutHeader(m, m.end)
	}
	if m.token == dsmlInvoke {
		s.orphanInvoke(first)
	}
	if !exact {
		s.mark(first, DefectTokenLookalike)
	}
	s.dsmlEnd(at, m.token == dsmlCalls)
	return true
}

// orphanInvoke marks blocks without their outer opener. They count when they
// are closed and name declared tools.
func (s *scan) orphanInvoke(first int) {
	for i := first; i < len(s.attempts); i++ {
		a := &s.attempts[i]
		if a.Status == StatusOK && !s.isDeclared(a.Name) {
			a.fail(StatusMalformed)
		}
		if a.Status != StatusTruncated {
			a.Defects = with(a.Defects, DefectMissingOpenTag)
		}
	}
}

func (s *scan) dsmlEnd(at int, outer bool) {
	next := s.skipBlanks(at)
	name, size, _ := dsmlTag(s.text[next:s.end])
	switch {
	case name == "/tool_calls" || name == "/function_calls":
		if s.hasAt(next+size, ">") {
			size++
		}
		s.afterLast(next + size)
	case outer:
		s.mark(len(s.attempts)-1, DefectMissingCloseTag)
	}
}

// dsmlInvoke reads one block and returns where the reading goes on; size is
// that of the block's tag up to the attributes.
func (s *scan) dsmlInvoke(start, at, size int) int {
	prefix := strings.TrimSuffix(s.text[at:at+size], "invoke")
	opener, closer := s.text[at:at+size], "</"+prefix[1:]+"invoke>"
	attributes, next, ok := s.attribute(at + size)
	name, named := dsmlAttribute(attributes, "name")
	if !ok {
		s.unfinished(start, at+size, opener, closer)
		return s.pos
	}
	inside, t := next, s.newTagged(name)
	for {
		switch next = s.skipBlanks(next); {
		case s.hasAt(next, closer):
			end := next + len(closer)
			a := t.attempt(name, s.text[inside:next], Span{start, end})
			if !named {
				a.fail(StatusMissingName, DefectMissingName)
			}
			s.add(&a)
			return end
		case s.hasAt(next, prefix+"parameter"):
			var ok bool
			if next, ok = s.dsmlParameter(next, prefix, closer, t); !ok {
				s.unfinished(start, at+size, opener, closer)
				return s.pos
			}
		case next >= s.end || s.partial(next, closer, prefix+"parameter"):
			s.unfinished(start, at+size, opener, closer)
			return s.pos
		default:
			s.strangeBlock(start, next, closer)
			return s.pos
		}
	}
}

// dsmlAttribute finds name="VALUE" among a tag's attributes.
func dsmlAttribute(attributes, name string) (value string, ok bool) {
	_, rest, ok := strings.Cut(attributes, name+`="`)
	if !ok {
		return "", false
	}
	value, _, ok = strings.Cut(rest, `"`)
	return value, ok
}

// dsmlParameter reads one parameter; ok is false when it never ends.
func (s *scan) dsmlParameter(at int, prefix, invokeCloser string, t *tagged) (next int, ok bool) {
	attributes, from, ok := s.attribute(at + len(prefix) + len("parameter"))
	key, named := dsmlAttribute(attributes, "name")
	if !ok || !named {
		return 0, false
	}
	closer := "</" + prefix[1:] + "parameter>"
	kind, typed := dsmlAttribute(attributes, "string")
	end := -1
	if kind == "false" {
		end = s.decodedEnd(from, closer)
	}
	if end < 0 {
		end = s.find(closer, from)
	}
	next = end + len(closer)
	if c := s.find(invokeCloser, from); end < 0 || c >= 0 && c < end && !s.hasAt(end, closer) {
		if c < 0 {
			return 0, false
		}
		t.defects = with(t.defects, DefectMissingCloseTag)
		end, next = c, c
	}
	s.dsmlValue(key, s.text[from:end], kind, typed, t)
	return next, true
}

// decodedEnd is the offset of a closer that directly follows a JSON value, or
// -1. The closer's text may stand inside the value.
func (s *scan) decodedEnd(from int, closer string) int {
	_, size, err := s.reader.Limits.JSON.Prefix(s.text[from:s.end])
	s.budget.decode(size)
	if next := s.skipBlanks(from + size); err == nil && s.hasAt(next, closer) {
		return next
	}
	return -1
}

func (s *scan) dsmlValue(key, raw, kind string, isTyped bool, t *tagged) {
	switch {
	case !isTyped:
		t.defects = with(t.defects, DefectTextTyped)
		t.add(key, raw)
	case kind == "true":
		t.keep(key, raw, asText(raw))
	default:
		t.keep(key, raw, typeJSON(raw, t.limits))
	}
}

// typeJSON reads what is declared to be JSON. Text that is none is typed like
// any other text between tags, and stays text in the end.
func typeJSON(raw string, limits strictjson.Limits) typed {
	trimmed := strings.TrimSpace(raw)
	if value, err := limits.DecodeString(trimmed); err == nil {
		return typed{value, []byte(trimmed), nil}
	}
	return typeValue(raw, kindAny&^kindString, limits)
}

func renderDSML(calls []renderable) (string, error) {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString("<｜DSML｜invoke name=\"" + c.name + "\">\n")
		for _, m := range c.members {
			_, isText := m.Value.(string)
			if isText && containsAny(m.text(), "</｜DSML｜") || strings.ContainsAny(m.Key, "\">\n") {
				return "", c.unwritable(m.Key)
			}
			b.WriteString("<｜DSML｜parameter name=\"" + m.Key + "\" string=\"" + strconv.FormatBool(isText) + "\">" + m.text() + "</｜DSML｜parameter>\n")
		}
		b.WriteString("</｜DSML｜invoke>\n")
	}
	return "<｜DSML｜tool_calls>\n" + b.String() + "</｜DSML｜tool_calls>", nil
}
