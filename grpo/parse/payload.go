package parse

import "toolgym/internal/strictjson"

// wrapper is what stands around JSON calls: <tool_call> and its closer, for
// instance.
type wrapper struct {
	at, body int    // offsets of the opener and of what follows it
	closer   string // empty where the form has none
	one      bool   // a single object is native
	list     bool   // a list of objects is native
	style    style
}

// payload reads the calls in a wrapper and the wrapper's end. It answers false,
// having done nothing, where no JSON object or list follows the opener. The end
// of every object is found by decoding it: a closer may stand inside a string.
func (s *scan) payload(w wrapper) bool {
	first := len(s.attempts)
	at := s.skipBlanks(w.body)
	at, fenced := s.openFence(at)
	var end int
	var ok bool
	switch {
	case s.hasAt(at, "{"):
		end, ok = s.objects(at, w)
		if ok && !w.one {
			s.mark(first, DefectMissingArray)
		}
	case s.hasAt(at, "["):
		end, ok = s.list(at, w)
		if !w.list {
			s.mark(first, DefectArrayInTag)
		}
	default:
		return false
	}
	if fenced {
		end = s.closeFence(end)
		s.mark(first, DefectCodeFence)
	}
	if ok {
		s.closeWrapper(end, w.closer)
	}
	return true
}

// nextObject adds the attempt at an offset, or keeps it as lost where it could
// not be decoded. start is where the attempt's span begins.
func (s *scan) nextObject(start, at int, w wrapper) (end int, ok bool) {
	var a Attempt
	if failure := s.object(&a, at, w.style); failure != nil {
		s.broken(start, at, w.closer, failure)
		return s.pos, false
	}
	a.Span.Start = start
	s.add(&a)
	return a.Span.End, true
}

// objects reads one object, and those that follow it in the same wrapper. ok
// is false when one of them could not be decoded; the position is then where
// the reading goes on.
func (s *scan) objects(at int, w wrapper) (end int, ok bool) {
	first, start := len(s.attempts), w.at
	for s.afford() {
		if end, ok = s.nextObject(start, at, w); !ok {
			return end, false
		}
		end = s.strayClosers(end, w.closer)
		next := s.skipBlanks(end)
		if s.hasAt(next, ",") || s.hasAt(next, ";") {
			next = s.skipBlanks(next + 1)
		}
		if !s.hasAt(next, "{") {
			if len(s.attempts) > first+1 {
				s.mark(first, DefectSeveralInTag)
			}
			return end, true
		}
		s.drop(next)
		at, start = next, next
	}
	return s.pos, false
}

// strayClosers skips closing brackets that close nothing, if the wrapper ends
// behind them.
func (s *scan) strayClosers(at int, closer string) int {
	end := s.skipBlanks(at)
	if !s.hasAt(end, "}") && !s.hasAt(end, "]") {
		return at
	}
	for s.hasAt(end, "}") || s.hasAt(end, "]") {
		end = s.skipBlanks(end + 1)
	}
	s.budget.search(end - at)
	if !s.ends(end) && (closer == "" || !s.hasAt(end, closer)) {
		return at
	}
	s.mark(len(s.attempts)-1, DefectStrayCloser)
	return end
}

// list reads the calls of a list one by one, so that those before a broken one
// are kept.
func (s *scan) list(at int, w wrapper) (end int, ok bool) {
	next := s.skipBlanks(at + 1)
	if s.hasAt(next, "]") {
		s.lose(w.at, next+1, StatusMissingName, DefectMissingName)
		return next + 1, true
	}
	for start := w.at; s.afford(); start = next {
		if end, ok = s.nextObject(start, next, w); !ok {
			return end, false
		}
		next = s.skipBlanks(end)
		if s.hasAt(next, "}") {
			s.mark(len(s.attempts)-1, DefectStrayCloser)
			next = s.skipBlanks(next + 1)
		}
		next, ok = s.betweenItems(next)
		s.drop(next)
		if !ok {
			return next, true
		}
	}
	return s.pos, false
}

// betweenItems reads what stands between two calls of a list; more is false
// at the list's end.
func (s *scan) betweenItems(at int) (next int, more bool) {
	last := len(s.attempts) - 1
	switch {
	case s.hasAt(at, "]"):
		return at + 1, false
	case s.hasAt(at, ","):
		next = s.skipBlanks(at + 1)
		if s.hasAt(next, "]") {
			s.mark(last, DefectTrailingComma)
			return next + 1, false
		}
		if next < s.end {
			return next, true
		}
	case s.hasAt(at, ";"), s.hasAt(at, "{"):
		s.mark(last, DefectSeparator)
		if s.text[at] == ';' {
			at = s.skipBlanks(at + 1)
		}
		return at, true
	}
	s.mark(last, DefectMissingBracket)
	return at, false
}

// closeWrapper reads the closer behind the last call's payload, or says that
// it is missing.
func (s *scan) closeWrapper(at int, closer string) {
	last := &s.attempts[len(s.attempts)-1]
	last.Span.End = max(last.Span.End, at)
	next := s.skipBlanks(at)
	switch end := s.foreignCloser(next); {
	case closer == "":
	case s.hasAt(next, closer):
		last.Span.End = next + len(closer)
	case end > next:
		last.Span.End = end
		last.Defects = with(last.Defects, DefectMissingCloseTag)
	default:
		last.Defects = with(last.Defects, DefectMissingCloseTag)
		if c := s.find(closer, next); c >= 0 && c <= s.nextMarkOffset(next) {
			last.Span.End = c + len(closer)
			last.Defects = with(last.Defects, DefectTrailingText)
		}
	}
	s.consume(last.Span.Start, last.Span.End)
	s.afterCall = len(s.segments)
}

// foreignCloser returns the end of a closing tag, whichever it is, or at.
func (s *scan) foreignCloser(at int) int {
	if !s.hasAt(at, "</") {
		return at
	}
	end := at + 2
	for end < s.end && end < at+32 && (s.text[end] >= 'a' && s.text[end] <= 'z' || s.text[end] == '_') {
		end++
	}
	if end > at+2 && s.hasAt(end, ">") {
		return end + 1
	}
	return at
}

// openFence skips the first line of a fence of code.
func (s *scan) openFence(at int) (int, bool) {
	if !s.hasAt(at, "```") {
		return at, false
	}
	end := s.end
	for _, word := range [...]string{"\n", "{", "["} {
		if i := s.find(word, at+len("```")); i >= 0 {
			end = min(end, i)
		}
	}
	return s.skipBlanks(end), true
}

func (s *scan) closeFence(at int) int {
	if next := s.skipBlanks(at); s.hasAt(next, "```") {
		return next + 3
	}
	return at
}

// broken keeps an attempt whose payload could not be decoded. The reading goes
// on behind its closer, or with the next marker.
func (s *scan) broken(start, at int, closer string, failure *strictjson.Error) {
	next, closed := s.nextMarkOffset(at+1), false
	c := -1
	if closer != "" {
		c = s.find(closer, at)
	}
	switch {
	case c >= 0 && c <= next:
		next, closed = c+len(closer), true
	case c < 0 && failure.Cut():
		next = s.end
	}
	status, defect := s.diagnose(failure, at+failure.Offset, closer, closed)
	s.lose(start, next, status, defect)
}

// diagnose says what a decoder's error means for an attempt.
func (s *scan) diagnose(failure *strictjson.Error, at int, closer string, closed bool) (Status, Defect) {
	status := StatusInvalidJSON
	if !closed && failure.Cut() {
		if s.cutOff {
			return StatusTruncated, DefectTruncated
		}
		status = StatusUnclosed
	}
	switch failure.Kind {
	case strictjson.UnexpectedEnd:
		return status, DefectUnbalanced
	case strictjson.Unexpected, strictjson.UnescapedQuote:
		if closer != "" && s.hasAt(at, closer) || at < s.end && (s.text[at] == '}' || s.text[at] == ']') {
			return status, DefectUnbalanced
		}
		if _, ok := s.markAt(at); ok {
			return status, DefectUnbalanced
		}
		if failure.Kind == strictjson.UnescapedQuote {
			return status, DefectUnescapedQuote
		}
	case strictjson.Unterminated, strictjson.BadEscape, strictjson.NonFinite, strictjson.DuplicateKey,
		strictjson.InvalidUTF8, strictjson.TooDeep, strictjson.TooLarge, strictjson.Kind(DefectPositional):
		return status, Defect(failure.Kind)
	}
	return status, DefectInvalidJSON
}
