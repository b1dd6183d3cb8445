package parse

// cutReasoning takes a block of reasoning out of the text. Nothing in it is a
// call. A block that is never closed takes all the rest with it.
func (s *scan) cutReasoning(m mark) {
	s.show(m.at)
	s.reasoned = true
	end := s.find(m.closer, m.end)
	if end < 0 {
		s.reasoning = append(s.reasoning, Span{m.end, s.end})
		s.defects = with(s.defects, DefectReasoningUnclosed)
		s.pos, s.shown, s.stopped = s.end, s.end, true
		return
	}
	s.reasoning = append(s.reasoning, Span{m.end, end})
	s.pos = end + len(m.closer)
	s.shown = s.pos
	s.tryStart = len(s.attempts) == 0 && s.nothingShown(s.pos)
}

// cutPrefilled deals with a closer that has no opener: the prompt opened the
// reasoning, and everything up to the first closer belongs to it. (A call that
// spans the closer inside its JSON was read before, and the closer with it.)
func (s *scan) cutPrefilled(m mark) {
	s.pos = m.end
	if s.reasoned {
		return
	}
	s.reasoned = true
	s.reasoning = append(s.reasoning, Span{s.begin, m.at})
	s.attempts, s.segments, s.visible, s.afterCall, s.family = nil, nil, false, 0, s.asked
	s.shown = m.end
	s.tryStart = true
}

// lookBehind says whether calls stand in the reasoning where none was made
// outside of it. In closed reasoning they are a remark; in reasoning that
// never ends they are attempts that are lost.
func (s *scan) lookBehind() {
	if len(s.attempts) > 0 || s.family == Harmony {
		return
	}
	unclosed := has(s.defects, DefectReasoningUnclosed)
	for _, span := range s.reasoning {
		hidden := scan{reader: s.reader, text: s.text, family: s.asked, asked: s.asked, reasoned: true, tryStart: true,
			begin: span.Start, pos: span.Start, shown: span.Start, end: span.End, earlier: len(s.attempts), budget: s.budget}
		hidden.loop()
		s.budget = hidden.budget
		for _, a := range hidden.attempts {
			if a.Status != StatusOK && !unclosed {
				continue
			}
			s.defects = with(s.defects, DefectCallInReasoning)
			if unclosed {
				s.family = hidden.family
				a.fail(StatusUnclosed, DefectCallInReasoning)
				s.attempts = append(s.attempts, a)
			}
		}
		if s.budget.exhausted() {
			s.defects = with(s.defects, DefectTooMuchWork)
			return
		}
		if unclosed && hidden.over {
			return
		}
	}
}
