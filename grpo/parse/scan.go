package parse

import (
	"strings"

	"toolgym/internal/strictjson"
)

// scan is one pass over a completion's text. Everything stands in the original
// text at its original place, so that spans need no translation.
type scan struct {
	reader *Reader
	text   string
	family Family // Auto until a form was recognised
	cutOff bool   // the token limit ended the generation

	begin int // the scan looks at text[begin:end]
	end   int
	pos   int // everything before it is dealt with

	shown      int    // content up to here is in segments
	segments   []Span // the visible text
	visible    bool   // there is more than blanks in it
	reasoning  []Span
	madeUp     Span   // from a made-up result to the end
	documented []Span // fences of code with prose around them
	attempts   []Attempt
	afterCall  int // segments before this one precede the last call

	defects   []Defect // of the completion
	inContent bool     // structured: calls do not belong here
	reasoned  bool     // reasoning was cut already
	stopped   bool
	earlier   int  // attempts outside of the fence that is being unwrapped
	fenced    int  // attempts known to be in fences, from the first on
	depth     int  // fences around the text that is being read
	over      bool // a limit ended the reading
	budget    budget
	ended     <-chan struct{} // the context's end; nil where it has none
	memo      memo
	members   []strictjson.Member // of the object that was decoded last
	spare     strictjson.Spare    // arguments of attempts that were read before
	tryStart  bool                // the position is where the content starts
	asked     Family
}

// reset makes the scan ready for another text. Its lists keep their memory, but
// for the attempts, which the reading has.
func (s *scan) reset() {
	*s = scan{segments: s.segments[:0], reasoning: s.reasoning[:0], documented: s.documented[:0], memo: memo{found: s.memo.found[:0]}, members: s.members[:0], spare: s.spare}
}

// restore undoes what was done since saved was copied, but for the work that it
// took, what was learned about the text, and the spare objects, of which some
// are in use now.
func (s *scan) restore(saved *scan) {
	budget, memo, members, spare := s.budget, s.memo, s.members, s.spare
	*s = *saved
	s.budget, s.memo, s.members, s.spare = budget, memo, members, spare
}

// run reads the text from left to right: whatever starts first decides.
func (s *scan) run() {
	s.asked = s.family
	s.tryStart = true
	s.loop()
	if len(s.attempts) == 0 && !s.stopped {
		if s.budget.exhausted() {
			s.giveUp(s.begin, DefectTooMuchWork)
		} else {
			s.lastResort()
		}
	}
	s.lookBehind()
}

func (s *scan) loop() {
	for !s.stopped {
		if s.tryStart {
			s.tryStart = false
			if s.start() {
				continue
			}
		}
		m, ok := s.nextMark(s.pos)
		if !ok || !s.affordWork() {
			break
		}
		s.take(m)
	}
	if !s.stopped {
		s.show(s.end)
	}
}

// take deals with one marker, and leaves the position behind it at least.
func (s *scan) take(m mark) {
	switch m.kind {
	case reasoningOpen:
		s.cutReasoning(m)
	case reasoningClose:
		s.cutPrefilled(m)
	case toolResult:
		s.show(m.at)
		s.pos, s.shown, s.stopped = s.end, s.end, true
		s.defects, s.madeUp = with(s.defects, DefectFabricated), Span{m.at, s.end}
	case codeFence:
		s.fence(m)
	case opener:
		s.open(m)
	}
	s.pos = max(s.pos, m.end)
}

// open reads the attempt that an opener starts. Where there is none, the opener
// is text.
func (s *scan) open(m mark) {
	if !s.afford() {
		return
	}
	family := s.family
	if family == Auto {
		family = s.sniff(m)
	}
	count := len(s.attempts)
	ok := false
	if form := formOf(family); form.read != nil && form.opens.has(m.token) {
		ok = form.read(s, m)
	}
	if !ok {
		s.attempts = s.attempts[:count]
		ok = s.foreign(m)
	}
	if ok && s.family == Auto && len(s.attempts) > count {
		s.family = family
	}
}

// nothingShown reports whether no visible text stands before an offset.
func (s *scan) nothingShown(before int) bool {
	return !s.visible && s.skipBlanks(s.shown) >= before
}

// ends reports whether the content ends at an offset: with the text, or with a
// result that the model made up.
func (s *scan) ends(at int) bool {
	at = s.skipBlanks(at)
	if at >= s.end {
		return true
	}
	m, ok := s.markAt(at)
	return ok && m.kind == toolResult
}

// show adds the text up to an offset to the visible content.
func (s *scan) show(until int) {
	if until > s.shown {
		s.segments = append(s.segments, Span{s.shown, until})
		s.visible = s.visible || !s.blank(s.shown, until)
		s.shown = until
	}
}

// consume takes text[at:end] out of the content.
func (s *scan) consume(at, end int) {
	s.show(at)
	s.shown, s.pos = max(s.shown, end), max(s.pos, end)
}

// drop takes a separator between two calls out of the content.
func (s *scan) drop(until int) { s.shown = max(s.shown, until) }

// add keeps an attempt. Its span is consumed.
func (s *scan) add(a *Attempt) {
	if a.Status == "" {
		a.Status = StatusOK
	}
	if a.Family == "" {
		a.Family = s.family
	}
	s.consume(a.Span.Start, a.Span.End)
	s.attempts = append(s.attempts, *a)
	s.afterCall = len(s.segments)
}

// lose keeps an attempt that cannot count.
func (s *scan) lose(at, end int, status Status, defects ...Defect) {
	s.add(&Attempt{Span: Span{at, end}, Status: status, Defects: defects, Raw: clipRaw(s.text[at:end])})
}

// clipRaw bounds what a lost attempt quotes of a hostile text.
func clipRaw(raw string) string {
	const most = 64 << 10
	if len(raw) <= most {
		return raw
	}
	return raw[:most]
}

// mark gives the attempts from an index on more defects. One that is lost
// already keeps its one reason.
func (s *scan) mark(from int, defects ...Defect) {
	for i := from; i < len(s.attempts); i++ {
		if a := &s.attempts[i]; a.Status == StatusOK {
			a.Defects = with(a.Defects, defects...)
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// hasAt reports whether a word stands at an offset of the text.
func (s *scan) hasAt(at int, word string) bool {
	return at <= s.end && strings.HasPrefix(s.text[at:s.end], word)
}

// blank reports whether nothing visible stands in text[at:end].
func (s *scan) blank(at, end int) bool {
	for ; at < end; at++ {
		if !isBlank(s.text[at]) {
			return false
		}
	}
	return true
}

// maxHeader bounds what may stand between an opener and a call's arguments.
const maxHeader = 512

func (s *scan) isDeclared(name string) bool { return s.reader.isDeclared(name) }
