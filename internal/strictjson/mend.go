package strictjson

// Mends is a set of misspellings that leave no doubt about what was meant.
type Mends uint8

// The misspellings that can be mended.
const (
	MendComma     Mends = 1 << iota // a comma before a closing bracket
	MendControl                     // a raw control character in a string
	MendSurrogate                   // a lone surrogate, read as U+FFFD
	MendPython                      // 'text', True, False, None, Python's numbers

	pythonEscapes // Python's escapes in strings; they are no mend without MendPython
)

// Kinds names the mends in a fixed order.
func (m Mends) Kinds() []Kind {
	var kinds []Kind
	for _, mend := range [...]struct {
		bit  Mends
		kind Kind
	}{{MendComma, TrailingComma}, {MendControl, ControlCharacter}, {MendSurrogate, LoneSurrogate}, {MendPython, PythonLiteral}} {
		if m&mend.bit != 0 {
			kinds = append(kinds, mend.kind)
		}
	}
	return kinds
}

const jsonMends = MendComma | MendControl | MendSurrogate

// Mend reads one object at the start of the text like [Limits.Object], accepts
// the misspellings of [Mends], and says which it met. The values are those
// that were meant; the spans are those of the text as it stands. The error is
// the [*Error] of the reading that came furthest, and end is how far any reading
// looked.
func (l Limits) Mend(text string) (members []Member, end int, mends Mends, err error) {
	r := reader{text: text, limits: l, mode: jsonMends}
	members, failure := r.topObject(nil)
	if failure == nil {
		return members, r.pos, r.mends, nil
	}
	p := reader{text: text, limits: l, mode: jsonMends | MendPython | pythonEscapes}
	members, python := p.topObject(nil)
	switch {
	case python == nil && p.mends&MendPython != 0:
		return members, p.pos, p.mends &^ pythonEscapes, nil
	case python != nil && python.Offset > failure.Offset:
		failure = python
	}
	return nil, max(r.pos, p.pos), 0, failure
}

// Literal reads one Python or JSON literal at the start of the text (blanks may
// precede it), where Python's spelling is native: both quotes, Python's escapes,
// True, False and None beside true, false and null, .5 and 1_000. The mends say
// what else was accepted; MendPython is in them when the text is no JSON.
func (l Limits) Literal(text string) (value any, end int, mends Mends, err error) {
	r := reader{text: text, limits: l, mode: jsonMends | MendPython | pythonEscapes}
	r.skipBlanks()
	value, failure := r.value()
	if failure != nil {
		return nil, r.pos, 0, failure
	}
	if r.mends&pythonEscapes != 0 {
		r.mends = r.mends&^pythonEscapes | MendPython
	}
	return value, r.pos, r.mends, nil
}
