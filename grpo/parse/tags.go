package parse

import (
	"strings"
	"unicode/utf8"

	"toolgym/internal/strictjson"
)

// tagged collects the arguments of a call whose values stand as text between
// tags; the schema types them.
type tagged struct {
	declared *declared // nil for an unknown tool
	budget   *budget
	limits   strictjson.Limits
	value    map[string]any
	json     []byte
	defects  []Defect
	failure  Defect // why the call is lost
}

func (s *scan) newTagged(name string) *tagged {
	return &tagged{declared: s.reader.declared[name], budget: &s.budget, limits: s.reader.Limits.JSON, value: map[string]any{}, json: []byte{'{'}}
}

// add types the text of an argument by the schema and keeps it.
func (t *tagged) add(key, raw string) {
	admitted := kindAny
	if t.declared != nil {
		admitted = t.declared.kindsOf(key)
	}
	t.keep(key, raw, typeValue(raw, admitted, t.limits))
}

func (t *tagged) keep(key, raw string, v typed) {
	t.budget.decode(len(key) + len(raw))
	if _, twice := t.value[key]; twice {
		t.failure = DefectDuplicateKey
	}
	if !utf8.ValidString(raw) || !utf8.ValidString(key) {
		t.failure = DefectInvalidUTF8
	}
	if len(t.json) > 1 {
		t.json = append(t.json, ',')
	}
	t.json = append(append(strictjson.AppendString(t.json, key), ':'), v.text...)
	t.value[key] = v.value
	t.defects = with(t.defects, v.defects...)
}

// attempt is the call that was collected.
func (t *tagged) attempt(name, raw string, span Span) Attempt {
	a := Attempt{Status: StatusOK, Name: name, Value: t.value, Arguments: append(t.json, '}'), Raw: clipRaw(raw), Span: span, Defects: t.defects}
	a.cutName()
	switch {
	case a.Name == "":
		a.fail(StatusMissingName, DefectMissingName)
	case t.failure != "":
		a.fail(StatusMalformed, t.failure)
	}
	return a
}

// unfinished keeps a block of tags that never ends. Unlike a JSON object it does
// not say where it was going to end: nothing of it counts. The reading goes on
// behind the closer or with the next opener, looked for behind the block's own.
func (s *scan) unfinished(start, inside int, opener, closer string) {
	c, o := s.find(closer, inside), s.find(opener, inside)
	switch {
	case c >= 0 && (o < 0 || c < o):
		s.lose(start, c+len(closer), StatusUnclosed, DefectMissingCloseTag)
	case o >= 0:
		s.lose(start, o, StatusUnclosed, DefectMissingCloseTag)
	case s.cutOff:
		s.lose(start, s.end, StatusTruncated, DefectTruncated)
	default:
		s.lose(start, s.end, StatusUnclosed, DefectMissingCloseTag)
	}
}

// attribute reads name=VALUE> as in <function=f>; ok is false where no such
// opener ends within reason.
func (s *scan) attribute(at int) (value string, end int, ok bool) {
	limit := min(s.end, at+maxHeader)
	i := strings.IndexAny(s.text[at:limit], ">\n")
	if i < 0 || s.text[at+i] != '>' {
		return "", 0, false
	}
	return strings.TrimSpace(s.text[at : at+i]), at + i + 1, true
}

// trimOneNewline removes the newline behind an opener and the one before a
// closer: those two belong to the markup, all others to the value.
func trimOneNewline(raw string) string {
	if rest, ok := strings.CutPrefix(raw, "\r\n"); ok {
		raw = rest
	} else {
		raw = strings.TrimPrefix(raw, "\n")
	}
	if rest, ok := strings.CutSuffix(raw, "\r\n"); ok {
		return rest
	}
	return strings.TrimSuffix(raw, "\n")
}
