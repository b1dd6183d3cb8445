package parse

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
