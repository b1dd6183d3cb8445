package parse

import "strings"

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
