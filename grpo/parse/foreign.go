package parse

import (
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// foreign deals with an opener that does not start an attempt in the family's
// own form. Around an object with the name and arguments of a declared tool,
// another wrapper is an envelope fault. Another family's form is an attempt
// that cannot count. Everything else is text.
func (s *scan) foreign(m mark) bool {
	if formOf(s.family).calls && s.foreignCalls(m) {
		return true
	}
	if done, ok := s.foreignJSON(m); done {
		return ok
	}
	if s.foreignForm(m) {
		return true
	}
	return s.opaque(m)
}

// foreignJSON reads a JSON payload behind the opener. done is false when there
// is none; ok is false when it is no call, and the marker is text.
func (s *scan) foreignJSON(m mark) (done, ok bool) {
	at, _ := s.openFence(s.skipBlanks(m.end))
	if m.token == wordFunctools {
		at = m.end
	}
	if !s.hasAt(at, "{") && !s.hasAt(at, "[") || m.token == harmonyChannel || m.token == harmonyStart {
		return false, false
	}
	value, size, err := s.reader.Limits.JSON.Prefix(s.text[at:s.end])
	s.budget.decode(size)
	first := len(s.attempts)
	if err != nil {
		if failure, ok := errors.AsType[*strictjson.Error](err); !ok || !s.mentionsTool(at, m.closer, failure) {
			return false, false
		}
	} else if !s.isCallPayload(value) {
		s.pos = at + size
		return true, true
	}
	done = s.payload(wrapper{at: m.at, body: m.end, closer: m.closer, one: true, list: true, style: style{tagged: true, defects: []Defect{DefectWrongWrapper}}})
	for i := first; i < len(s.attempts); i++ {
		if a := &s.attempts[i]; a.Status == StatusOK && !s.isDeclared(a.Name) {
			a.fail(StatusMalformed, DefectUnknownEnvelope)
		}
	}
	if end := s.specialToken(s.skipBlanks(s.pos)); m.closer == "" && end > s.pos && len(s.attempts) > first {
		s.afterLast(end)
	}
	return done, true
}

// specialToken is the end of a token <|word|> at an offset that no form uses, or
// the offset: a marker's unknown closer.
func (s *scan) specialToken(at int) int {
	limit := min(s.end, at+64)
	if _, known := s.markAt(at); known || !s.hasAt(at, "<|") {
		return at
	}
	if i := strings.Index(s.text[at:limit], "|>"); i >= 0 {
		return at + i + len("|>")
	}
	return at
}

// isCallPayload reports a call, or a list of them.
func (s *scan) isCallPayload(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		return isCallValue(v) || len(v) == 1 && s.isDeclared(name)
	case []any:
		return s.areCalls(v)
	}
	return false
}

// mentionsTool reports whether a payload that cannot be decoded has a
// declared tool's name in it; otherwise it is text in braces.
func (s *scan) mentionsTool(at int, closer string, failure *strictjson.Error) bool {
	end := min(s.end, at+min(failure.Offset, maxHeader)+64)
	if closer != "" {
		if c := s.find(closer, at); c >= 0 {
			end = min(end, c)
		}
	}
	return s.mentions(s.text[at:end])
}

func (s *scan) mentions(text string) bool {
	s.budget.search(len(text))
	return s.reader.names().in(text)
}

// foreignCalls reads a list of declared calls in another wrapper, for a family
// whose payload is such a list.
func (s *scan) foreignCalls(m mark) bool {
	at := s.skipBlanks(m.end)
	if !s.startsCalls(at) && !s.isDeclared(s.expressionName(at)) {
		return false
	}
	saved := *s
	first := len(s.attempts)
	s.callsBetween(m)
	if !s.allDeclared(first) {
		s.restore(&saved)
		return false
	}
	s.mark(first, DefectWrongWrapper)
	return true
}

// foreignForm reads another family's form, which does not count under the
// declared one.
func (s *scan) foreignForm(m mark) bool {
	family := s.sniff(m)
	form := formOf(family)
	if family == s.family || form.read == nil || !form.opens.has(m.token) {
		return false
	}
	own, first := s.family, len(s.attempts)
	s.family = family
	ok := form.read(s, m)
	s.family = own
	for i := first; ok && i < len(s.attempts); i++ {
		if a := &s.attempts[i]; a.Status == StatusOK {
			a.fail(StatusMalformed, DefectUnknownEnvelope)
		}
	}
	return ok && len(s.attempts) > first
}

// opaque deals with an opener whose payload is in no known form.
func (s *scan) opaque(m mark) bool {
	next := s.nextMarkOffset(m.end)
	end, closed := next, false
	if m.closer != "" {
		if c := s.find(m.closer, m.end); c >= 0 && c <= next {
			end, closed = c, true
		}
	}
	payload := strings.TrimSpace(s.text[m.end:end])
	after := end
	if closed {
		after += len(m.closer)
	}
	switch {
	case payload == "" && closed:
		return s.emptyTag(m, after)
	case payload == "" && s.cutOff && next == s.end && m.token != alias:
		s.lose(m.at, s.end, StatusTruncated, DefectTruncated)
		return true
	case payload == "" || !s.looksLikePayload(m, payload, closed):
		return false
	}
	s.lose(m.at, after, StatusMalformed, s.unknownForm())
	return true
}

// unknownForm is the defect of an attempt in no form that is read here. Under
// auto it may be a blind spot of this package, and is counted apart.
func (s *scan) unknownForm() Defect {
	if s.family == Auto {
		return DefectNotRecognised
	}
	return DefectUnknownEnvelope
}

// emptyTag deals with a tag without a payload. In prose it is text; where
// there is nothing else, it is an attempt without a name.
func (s *scan) emptyTag(m mark, after int) bool {
	if _, next := s.markAt(s.skipBlanks(after)); !s.nothingShown(m.at) || !next && !s.ends(after) {
		return false
	}
	s.lose(m.at, after, StatusMissingName, DefectMissingName)
	return true
}

// looksLikePayload tells an attempt in an unknown form from a tag in prose.
func (s *scan) looksLikePayload(m mark, payload string, closed bool) bool {
	head := payload[:min(len(payload), maxHeader)]
	word := head
	if i := strings.IndexFunc(head, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) }); i >= 0 {
		word = head[:i]
	}
	if m.token == chevrons {
		return false // Python's prompt in a listing
	}
	special := s.text[m.at+1] == '|' || m.token == bracketToolCalls
	switch {
	case s.isDeclared(word), special && s.nothingShown(m.at):
		return true
	case !closed:
		return false
	case m.token == alias:
		return s.mentions(head)
	}
	return strings.ContainsAny(head, "{(<=:") || s.mentions(head)
}
