package parse

import "strings"

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
