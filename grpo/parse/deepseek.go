package parse

import (
	"strconv"
	"strings"

	"toolgym/internal/strictjson"
)

// DeepSeek V3 and R1: a type word, the name, and fenced arguments, with
// full-width bars (U+FF5C) and lower blocks (U+2581) in the tokens,
//
//	<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
//	```json
//	{"a": 1}
//	```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
//
// The end of the arguments is found by decoding them: a fence may stand inside
// a string.
func deepSeekR1Form() form {
	return form{opens: tokenSet(deepSeekCalls, deepSeekCall, kimiCall), read: (*scan).deepSeekR1, render: renderDeepSeekR1}
}

func (s *scan) deepSeekR1(m mark) bool { return s.deepSeek(m, true) }

// deepSeek reads the calls of both forms that share these tokens. typed is the
// older one, with a type word and a fence.
func (s *scan) deepSeek(m mark, typed bool) bool {
	first, start, at := len(s.attempts), m.at, m.end
	exact, outer := m.exact, m.token == deepSeekCalls
	if !outer {
		at = m.at
	}
	for s.afford() {
		words, size, same := deepSeekToken(s.text[s.skipBlanks(at):s.end])
		if words != "tool call begin" {
			break
		}
		begin := s.skipBlanks(at)
		exact = exact && same
		at = s.deepSeekCall(start, begin, size, typed)
		start = at
	}
	if len(s.attempts) == first {
		return s.cutHeader(m, m.end)
	}
	s.deepSeekEnd(at, outer)
	if !exact {
		s.mark(first, DefectTokenLookalike)
	}
	if !outer {
		s.mark(first, DefectMissingOpenTag)
	}
	return true
}

// deepSeekCall reads one call behind its opening token, which spans
// text[begin:begin+size], and returns where the reading goes on.
func (s *scan) deepSeekCall(start, begin, size int, typed bool) int {
	from := begin + size
	closer := strings.Replace(s.text[begin:from], "begin", "end", 1)
	separator := strings.Replace(strings.Replace(s.text[begin:from], "call"+lowBlock+"begin", "sep", 1), "call_begin", "sep", 1)
	at := s.find(separator, from)
	if at < 0 || at-from > maxHeader {
		s.unfinished(start, from, s.text[begin:from], closer)
		return s.pos
	}
	name := strings.TrimSpace(s.text[from:at])
	next := s.skipBlanks(at + len(separator))
	var defects []Defect
	fenced, isTyped := false, !s.hasAt(next, "{")
	if isTyped {
		var ok bool
		if name, next, ok = s.typedName(next); !ok {
			s.unfinished(start, from, s.text[begin:from], closer)
			return s.pos
		}
		if next, fenced = s.openFence(next); !fenced {
			defects = with(defects, DefectMissingFence)
		}
	}
	if isTyped != typed {
		defects = with(defects, DefectWrongWrapper)
	}
	if !s.argumentsOf(start, next, name, "", closer, defects) {
		return s.pos
	}
	last := len(s.attempts) - 1
	next = s.strayClosers(s.pos, closer)
	if fenced {
		next = s.closeFence(next)
	}
	s.closeWrapper(next, closer)
	return s.attempts[last].Span.End
}

// typedName reads the name on the rest of the line behind the separator.
func (s *scan) typedName(at int) (name string, next int, ok bool) {
	limit := min(s.end, at+maxHeader)
	line := strings.IndexByte(s.text[at:limit], '\n')
	if line < 0 {
		return "", 0, false
	}
	return strings.TrimSpace(s.text[at : at+line]), s.skipBlanks(at + line), true
}

// deepSeekEnd reads the token behind the last call.
func (s *scan) deepSeekEnd(at int, outer bool) {
	next := s.skipBlanks(at)
	words, size, _ := deepSeekToken(s.text[next:s.end])
	switch {
	case words == "tool calls end":
		s.afterLast(next + size)
	case outer:
		s.mark(len(s.attempts)-1, DefectMissingCloseTag)
	}
}

func renderDeepSeekR1(calls []renderable) (string, error) {
	return "<｜tool▁calls▁begin｜>" + renderEach(calls, "\n", func(c renderable) string {
		return "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + c.name + "\n```json\n" + c.arguments + "\n```<｜tool▁call▁end｜>"
	}) + "<｜tool▁calls▁end｜>", nil
}

// DeepSeek V3.1: the same tokens as before, without type word and fence,
//
//	<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
func deepSeekV31Form() form {
	return form{opens: tokenSet(deepSeekCalls, deepSeekCall, kimiCall), read: (*scan).deepSeekV31, render: renderDeepSeekV31}
}

func (s *scan) deepSeekV31(m mark) bool { return s.deepSeek(m, false) }

func renderDeepSeekV31(calls []renderable) (string, error) {
	return "<｜tool▁calls▁begin｜>" + renderEach(calls, "", func(c renderable) string {
		return "<｜tool▁call▁begin｜>" + c.name + "<｜tool▁sep｜>" + c.arguments + "<｜tool▁call▁end｜>"
	}) + "<｜tool▁calls▁end｜>", nil
}

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
