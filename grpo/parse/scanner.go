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

// budget bounds the work that the reading of one text may take, in bytes that
// were looked at. Every reader that may look at a byte more than once counts
// here, and nothing gives work back: an attempt that is undone has cost what it
// has cost. All scans of one text share its budget.
type budget struct {
	spent, limit int
	total        *int // in tests: what was spent in all, whether it was undone or not
}

// newBudget makes the budget of a text. It is proportional to the text's size:
// enough for any honest text, which takes less than a quarter of it, and a bound
// for one that makes every attempt look far ahead.
func newBudget(size int) budget { return budget{limit: 16*size + 1<<16} }

// decode counts bytes that a decoder looked at.
func (b *budget) decode(n int) {
	b.spent += n
	if b.total != nil {
		*b.total += n
	}
}

// search counts bytes that were searched for a word or skipped, which is much
// faster than to decode them.
func (b *budget) search(n int) { b.decode(1 + n/8) }

func (b *budget) exhausted() bool { return b.spent > b.limit }

// afford ends the reading where the limits are reached.
func (s *scan) afford() bool {
	if s.earlier+len(s.attempts) >= s.reader.Limits.Attempts {
		s.giveUp(s.pos, DefectTooMany)
		return false
	}
	return s.affordWork()
}

// affordWork ends the reading where the budget is exhausted, or the context has
// ended.
func (s *scan) affordWork() bool {
	if s.budget.exhausted() || s.isEnded() {
		s.giveUp(s.pos, DefectTooMuchWork)
		return false
	}
	return true
}

// isEnded reports whether the context has ended: what was read is not used then.
func (s *scan) isEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// giveUp loses all text from an offset on for one reason.
func (s *scan) giveUp(at int, reason Defect) {
	s.lose(at, s.end, StatusMalformed, reason)
	s.pos, s.shown, s.stopped = s.end, s.end, true
	s.over = true
}

// A cursor is where a form that is no JSON is being read. The offsets of its
// errors are relative to where the reading began.
type cursor struct {
	s         *scan
	at, start int
}

func (c *cursor) fail(kind strictjson.Kind, message string) *strictjson.Error {
	return &strictjson.Error{Kind: kind, Offset: c.at - c.start, Message: message}
}

// due reports that something else stands at the position.
func (c *cursor) due(what string) *strictjson.Error {
	if c.at >= c.s.end {
		return c.fail(strictjson.UnexpectedEnd, "the text ends where "+what+" is due")
	}
	return c.fail(strictjson.Unexpected, what+" is due")
}

// fence deals with a fence of code. One that is the whole content is
// unwrapped; one with prose around it is documentation, whatever it holds.
func (s *scan) fence(m mark) {
	s.pos = m.end
	line := strings.IndexByte(s.text[m.end:s.end], '\n')
	if line < 0 {
		return
	}
	inside := m.end + line + 1
	closer := s.find("\n```", inside-1)
	whole := s.depth < maxFences && s.nothingShown(m.at) && s.onlyFences()
	switch {
	case closer < 0:
		if whole {
			s.unwrap(m.at, inside, s.end, s.end)
		}
	case whole && s.endsOrFence(closer+4):
		if !s.unwrap(m.at, inside, max(inside, closer), closer+4) {
			s.pos = closer + 4
		}
	case !s.hidesReasoningCloser(inside, closer):
		s.pos = closer + 4
		s.documented = append(s.documented, Span{inside, closer})
	}
}

// onlyFences reports whether all attempts so far stood in fences.
func (s *scan) onlyFences() bool {
	for s.fenced = min(s.fenced, len(s.attempts)); s.fenced < len(s.attempts); s.fenced++ {
		if !s.attempts[s.fenced].Has(DefectCodeFence) {
			return false
		}
	}
	return true
}

func (s *scan) endsOrFence(at int) bool {
	at = s.skipBlanks(at)
	return s.ends(at) || s.hasAt(at, "```")
}

// hidesReasoningCloser reports a closer of reasoning inside the fence: the
// fence then belongs to reasoning that the prompt opened.
func (s *scan) hidesReasoningCloser(at, end int) bool {
	if s.reasoned {
		return false
	}
	for _, closer := range [...]string{"</think>", "</thinking>", "</thought>", "[/THINK]", "<|END_THINKING|>"} {
		if c := s.find(closer, at); c >= 0 && c < end {
			return true
		}
	}
	return false
}

// maxFences bounds how many fences are unwrapped one within another: each is
// read once more.
const maxFences = 4

// unwrap reads text[inside:end] as if it were the content. It answers false,
// having done nothing, when there is no attempt in it.
func (s *scan) unwrap(at, inside, end, after int) bool {
	saved := *s
	s.begin, s.end, s.memo = inside, end, memo{}
	s.pos, s.shown, s.tryStart, s.attempts = inside, inside, true, nil
	s.earlier, s.fenced, s.depth = s.earlier+len(saved.attempts), 0, s.depth+1
	s.loop()
	s.memo = saved.memo
	if len(s.attempts) == 0 {
		s.restore(&saved)
		return false
	}
	s.swap(DefectMissingWrapper, DefectCodeFence)
	s.attempts[0].Span.Start = at
	s.attempts[len(s.attempts)-1].Span.End = after
	s.attempts = append(saved.attempts, s.attempts...)
	s.begin, s.end, s.earlier, s.fenced, s.depth = saved.begin, saved.end, saved.earlier, saved.fenced, saved.depth
	s.segments, s.visible, s.pos, s.shown, s.stopped = saved.segments, saved.visible, after, after, saved.stopped
	if s.over {
		s.pos, s.shown, s.stopped = s.end, s.end, true
	}
	s.afterCall = len(s.segments)
	return true
}

// swap replaces a defect by another in all attempts that are not lost: a fence,
// or an orphaned closer, is the wrapper there is.
func (s *scan) swap(old, replacement Defect) {
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.Status != StatusOK {
			continue
		}
		defects := make([]Defect, 0, len(a.Defects)+1)
		for _, d := range a.Defects {
			if d != old {
				defects = append(defects, d)
			}
		}
		a.Defects = with(defects, replacement)
	}
}
